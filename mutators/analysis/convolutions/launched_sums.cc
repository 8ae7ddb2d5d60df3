#include "mutators/analysis/convolutions/launched_sums.h"

#include <algorithm>
#include <utility>

#include "mutators/analysis/numbers/fingerprint.h"

namespace evo {
namespace {

// Workspaces with parts of sums, one after another.
constexpr int kMostPartsOfSums = 3;
// In silence: most kernels are such.
constexpr char kMoreThanProducts[] = "";

}  // namespace

bool LaunchedSums::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

bool LaunchedSums::FindOutput() {
  for (const auto& [buffer, elements] : run_.stored) {
    if (elements.empty() || (runs_.IsWorkspace(buffer) && runs_.links().size() > 1)) continue;
    if (!y_.empty()) return Refuse("");
    y_ = buffer;
  }
  return !y_.empty() && !run_.filled.contains(y_);
}

bool LaunchedSums::Find() {
  if (!FindOutput()) return false;
  for (const auto& [buffer, elements] : run_.read) {
    for (const auto& [index, value] : elements) read_[value] = {buffer, index};
  }
  const auto sums = run_.sums.find(y_);
  if (sums == run_.sums.end()) return Refuse("");
  bool products = false;
  for (const auto& [element, sum] : sums->second) {
    ConvolutionSample sample;
    sample.element = element;
    if (!AddProducts(sum.get(), sample, 0)) return false;
    // What is cut off at zero shows no sum.
    if (sample.products.empty()) continue;
    std::sort(sample.products.begin(), sample.products.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    for (const auto& [x, f] : sample.products) {
      sample.x.push_back(x);
      sample.f.push_back(f);
      sample.sum += RandomElement(kBuffersOfSums.x, x) * RandomElement(kBuffersOfSums.f, f);
    }
    std::sort(sample.x.begin(), sample.x.end());
    products = products || sample.products.size() > 1;
    samples_.push_back(std::move(sample));
  }
  if (!products) return Refuse("");
  for (const auto& [buffer, elements] : run_.read) {
    if (buffer != a_ && buffer != b_ && buffer != y_) others_.push_back(buffer);
  }
  return true;
}

// Where what is in a buffer comes from.
bool LaunchedSums::Origin(int declaration, std::int64_t index, Place& place) {
  place = {runs_.BufferOf(declaration), index};
  const auto stored = run_.stored.find(place.buffer);
  if (stored == run_.stored.end()) return !place.buffer.empty();
  const auto element = stored->second.find(index);
  if (element == stored->second.end()) return true;  // as it was
  if (element->second == 0) {
    place.buffer.clear();
    return true;
  }
  const auto read = read_.find(element->second);
  if (read == read_.end()) return Refuse(kMoreThanProducts);
  place = read->second;
  return true;
}

bool LaunchedSums::AddProducts(const ThreadSum* sum, ConvolutionSample& sample, int depth) {
  return EachTerm(sum, [&](const ThreadSum& term) { return AddTerm(term, sample, depth); });
}

bool LaunchedSums::AddTerm(const ThreadSum& term, ConvolutionSample& sample, int depth) {
  if (term.b < 0) {
    if (term.a < 0) return Refuse(kMoreThanProducts);
    const std::string buffer = runs_.BufferOf(term.a);
    const auto sums = run_.sums.find(buffer);
    if (!runs_.IsWorkspace(buffer) || sums == run_.sums.end()) return true;  // one that is added, as a bias is
    const auto part = sums->second.find(term.at_a);
    if (part == sums->second.end() || !part->second) return true;
    return depth < kMostPartsOfSums ? AddProducts(part->second.get(), sample, depth + 1) : Refuse(kMoreThanProducts);
  }
  Place a, b;
  if (!Origin(term.a, term.at_a, a) || !Origin(term.b, term.at_b, b)) return false;
  if (a.buffer.empty() || b.buffer.empty()) return true;
  if (a_.empty()) a_ = a.buffer, b_ = b.buffer;
  if (a.buffer != a_) std::swap(a, b);
  if (a.buffer != a_ || b.buffer != b_ || a_ == b_) return Refuse(kMoreThanProducts);
  sample.products.emplace_back(a.index, b.index);
  return true;
}

}  // namespace evo
