#include "mutators/analysis/attention/attention_mask.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <utility>

#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

constexpr std::int64_t kMaskedRows[] = {1, 3};
// The numbers that a mask may have: of bool, of unsigned numbers, and of others.
const std::vector<double> kMaskOfBool{0, 1}, kUnsignedMask{0, 1, 2, 200}, kSignedMask{0, 1, 2, 100, -1};
// Scores of hidden keys are at least so far below zero.
constexpr double kHiddenScore = 1e4;

double ShownBy(const AttentionRoles& roles) { return roles.shows_zero ? 0 : 1; }

}  // namespace

bool AttentionMask::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

// The elements of the mask that a row reads, by key.
std::vector<std::int64_t> AttentionMask::IndicesOf(const AttentionRoles& roles, std::size_t number, std::int64_t row) {
  std::vector<std::int64_t> indices;
  const ThreadTrace trace = runs_.RunChosen(number, row, {});
  if (const auto loaded = trace.loaded.find(roles.mask); loaded != trace.loaded.end()) {
    for (const auto& [index, element] : loaded->second) indices.push_back(index);
  }
  return indices;
}

// Some keys hidden: each second one, the first, the last, all but one, and one by each number that a mask may have.
bool AttentionMask::RunPatterns(const AttentionRoles& roles, std::size_t number, std::int64_t row) {
  const auto indices = IndicesOf(roles, number, row);
  if (indices.size() < 2) return Refuse("its mask is not read for each key");
  const std::size_t last = indices.size() - 1;
  const double shown = ShownBy(roles), hidden = 1 - shown;
  std::vector<std::function<double(std::size_t)>> patterns{
      [&](std::size_t key) { return key % 2 == 0 ? shown : hidden; }, [&](std::size_t key) { return key == 0 ? hidden : shown; },
      [&](std::size_t key) { return key == last ? hidden : shown; }, [&](std::size_t key) { return key == 0 ? shown : hidden; },
      [&](std::size_t key) { return key == 1 ? shown : hidden; }};
  const std::string& type = tree_.node(roles.mask).type;
  const auto& numbers = type.find("bool") != std::string::npos       ? kMaskOfBool
                        : type.find("unsigned") != std::string::npos ? kUnsignedMask
                        : type.find("uint") != std::string::npos     ? kUnsignedMask
                                                                     : kSignedMask;
  for (const double one : numbers) patterns.emplace_back([&, one](std::size_t key) { return key == 0 ? shown : one; });
  for (const auto& pattern : patterns) {
    BufferContents mask;
    for (std::size_t key = 0; key < indices.size(); ++key) mask[indices[key]] = pattern(key);
    const ThreadTrace trace = runs_.RunChosen(number, row, {{roles.mask, mask}});
    if (!trace.refusal.empty()) return Refuse(trace.refusal);
    if (Computes(trace, roles, row)) continue;
    const auto stored = trace.stores.find(roles.o);
    if (stored != trace.stores.end() && std::isnan(stored->second.begin()->second.value))
      return Refuse("where it hides the first keys of a row, what it stores is no number");
    return Refuse(fmt::format("{} does not only hide keys by zeros or by all other numbers", tree_.node(roles.mask).name));
  }
  return true;
}

// All keys hidden: all count the same if hidden keys have a finite score; else the row has no weights.
bool AttentionMask::RunHidden(const AttentionRoles& roles, Attention& found) {
  const std::int64_t row = kMaskedRows[1];
  BufferContents mask;
  for (const std::int64_t index : IndicesOf(roles, 0, row)) mask[index] = 1 - ShownBy(roles);
  const ThreadTrace trace = runs_.RunChosen(0, row, {{roles.mask, mask}});
  if (!trace.refusal.empty()) return Refuse(trace.refusal);
  if (ComputesMean(trace, roles, row)) return FindScore(roles, found);
  const auto stored = trace.stores.find(roles.o);
  const auto all = [&](auto is) {
    return stored != trace.stores.end() && stored->second.size() == static_cast<std::size_t>(roles.depth) &&
           std::all_of(stored->second.begin(), stored->second.end(), [&](const auto& one) { return is(one.second.value); });
  };
  const bool undefined = all([](double value) { return std::isnan(value); }), zero = all([](double value) { return value == 0; });
  using enum Attention::Unweighted;
  if (zero && (found.unweighted == kZero || !found.keyless)) found.unweighted = kZero;
  if ((undefined && found.unweighted == kUndefined) || (zero && found.unweighted == kZero)) return true;
  return Refuse("a row whose keys are all hidden is neither 0 / 0, nor zero, nor the mean of all values");
}

// The number of the source that is the score of hidden keys: one with which keys of about the same score count as much.
bool AttentionMask::FindScore(const AttentionRoles& roles, Attention& found) {
  const std::string& text = tree_.text();
  for (const SourceRange& range : Tokenize(text)) {
    std::string token = text.substr(range.begin, range.size());
    if (token.empty() || token.front() < '0' || token.front() > '9') continue;
    const double number = std::strtod(token.c_str(), nullptr);
    if (number < kHiddenScore || number > 1e38 || !HasScore(roles, -number)) continue;
    found.mask.hidden = fmt::format("{:.9g}", -number);
    if (found.mask.hidden.find_first_of(".e") == std::string::npos) found.mask.hidden += ".0";
    found.mask.hidden += "f";
    return true;
  }
  return Refuse("it is not known which score hidden keys have");
}

bool AttentionMask::HasScore(const AttentionRoles& roles, double score) {
  const std::int64_t row = kMaskedRows[1];
  const ThreadTrace plain = runs_.RunChosen(0, row, {});
  const auto scale = ScaleIn(plain, roles, row);
  if (!scale) return false;
  std::map<int, BufferContents> chosen;
  std::size_t at = 0;
  const auto depth = static_cast<std::size_t>(roles.depth);
  for (const auto& [index, access] : plain.reads.at(roles.q)) chosen[BufferOfPart(roles.q)][index] = at++ == 0 ? 1.0 : 0.0;
  at = 0;
  for (const auto& [index, access] : plain.reads.at(roles.k)) {
    const std::size_t key = at / depth;
    const double near = score + 0.25 * static_cast<double>(key);
    chosen[BufferOfPart(roles.k)][index] = at % depth == 0 ? near / *scale : 0.0;
    ++at;
  }
  at = 0;
  for (const std::int64_t index : IndicesOf(roles, 0, row))
    chosen[roles.mask][index] = at++ % 2 == 0 ? ShownBy(roles) : 1 - ShownBy(roles);
  return ComputesHidden(runs_.RunChosen(0, row, std::move(chosen)), roles, row, score);
}

bool AttentionMask::Find(const AttentionRoles& roles, Attention& found) {
  for (const std::size_t number : {0u, 1u}) {
    for (const std::int64_t row : kMaskedRows) {
      if (!RunPatterns(roles, number, row)) return false;
    }
  }
  return RunHidden(roles, found);
}

}  // namespace evo
