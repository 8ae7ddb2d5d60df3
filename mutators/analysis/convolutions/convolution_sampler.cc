#include "mutators/analysis/convolutions/convolution_sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace evo {
namespace {

// Threads that are tried for each element that is wanted.
constexpr std::size_t kTriesEach = 24;
// In each block, if its threads work together.
constexpr std::size_t kTriesOfBlock = 16;

}  // namespace

bool ConvolutionSampler::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

void ConvolutionSampler::Reset() {
  buffers_ = {};
  output_ = -1;
  observed_.clear();
  shaped_ = 0;
  why_.clear();
}

// A thread's elements; none if it stores none. Refuses if it does anything else.
std::vector<ConvolutionSample> ConvolutionSampler::SamplesOf(const ThreadTrace& trace) {
  std::vector<ConvolutionSample> samples;
  const auto refuse = [&](std::string why) {
    Refuse(std::move(why));
    return std::vector<ConvolutionSample>();
  };
  if (!trace.refusal.empty()) return refuse(trace.refusal);
  if (trace.race >= 0)
    return refuse(fmt::format("a thread stores in {} what another reads or stores, and no barrier is between them",
                              tree_.node(trace.race).name));
  if (trace.stores.empty()) return {};
  const auto& [parameter, elements] = *trace.stores.begin();
  if (trace.stores.size() > 1 || (!parts_.plain() && (elements.size() > 1 || trace.after.times != 1)))
    return refuse("a thread stores more than one element");
  if (output_ >= 0 && output_ != parameter) return refuse("its threads store to two buffers");
  output_ = parameter;
  if (parts_.plain()) {
    if (trace.reals_compared) return refuse("it compares real numbers before its sum is there");
    for (const auto& [element, access] : elements) {
      ConvolutionSample& sample = samples.emplace_back();
      sample.element = element;
      sample.sum = access.value;
      if (!access.sum || std::abs(access.sum->value - access.value) > 1e-12)
        return refuse("what it stores is more than a sum of products");
      if (!AddProducts(access.sum.get(), sample)) return {};
    }
    return samples;
  }
  if (trace.after.rounded) return refuse("it rounds parts of its sum");
  if (trace.after.reals_compared) return refuse("it compares real numbers before its sum is there");
  const auto before = trace.before.values.find(parts_.accumulator), after = trace.after.values.find(parts_.accumulator);
  if (before == trace.before.values.end() || after == trace.after.values.end())
    return refuse(fmt::format("{} has no value before its loop", tree_.node(parts_.accumulator).name));
  ConvolutionSample& sample = samples.emplace_back();
  sample.element = elements.begin()->first;
  sample.sum = after->second.real - before->second.real;
  if (!AddProducts(after->second.sum.get(), sample)) return {};
  return samples;
}

// What a sum added: products of elements of two buffers, of which the first that is seen counts as the images until more is
// known. What was there before the loop is no product.
bool ConvolutionSampler::AddProducts(const ThreadSum* sum, ConvolutionSample& sample) {
  if (!EachTerm(sum, [&](const ThreadSum& term) { return AddProduct(term, sample); })) return false;
  std::sort(sample.products.begin(), sample.products.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  for (const auto& [x, f] : sample.products) {
    sample.x.push_back(x);
    sample.f.push_back(f);
  }
  std::sort(sample.x.begin(), sample.x.end());
  return true;
}

bool ConvolutionSampler::AddProduct(const ThreadSum& term, ConvolutionSample& sample) {
  if (term.b < 0) return (!parts_.plain() && !term.before) || Refuse("its sum is of more than products of images and filters");
  if (buffers_.x < 0) buffers_ = {term.a, term.b};
  if (term.a == buffers_.x && term.b == buffers_.f)
    sample.products.emplace_back(term.at_a, term.at_b);
  else if (term.b == buffers_.x && term.a == buffers_.f)
    sample.products.emplace_back(term.at_b, term.at_a);
  else
    return Refuse("its sum is of more than images and filters");
  return true;
}

std::vector<ConvolutionSample> ConvolutionSampler::Sample(const LaunchRuns::Setting& setting, std::int64_t thread) {
  const ThreadTrace trace = runs_.Run(setting, thread);
  auto samples = SamplesOf(trace);
  for (const ConvolutionSample& sample : samples) Observe(setting, thread, trace, sample.element);
  return samples;
}

std::vector<ConvolutionSampler::Sampled> ConvolutionSampler::Some(const LaunchRuns::Setting& setting, std::size_t count) {
  std::vector<Sampled> samples;
  std::uint64_t random = 1;
  std::int64_t block = 0;
  for (std::size_t tries = 0; samples.size() < count && tries < kTriesEach * count; ++tries) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    auto thread = static_cast<std::int64_t>((random >> 16) % static_cast<std::uint64_t>(setting.Threads()));
    // All threads of a block are run for one of them.
    const std::int64_t of_block = setting.block[0] * setting.block[1] * setting.block[2];
    if (runs_.together() && tries % kTriesOfBlock != 0) thread = thread % of_block + block * of_block;
    block = thread / of_block;
    auto found = Sample(setting, thread);
    if (!why_.empty()) return {};
    for (ConvolutionSample& sample : found) samples.emplace_back(thread, std::move(sample));
  }
  return samples;
}

void ConvolutionSampler::Observe(const LaunchRuns::Setting& setting, std::int64_t thread, const ThreadTrace& trace,
                                 std::int64_t element) {
  ConvolutionObserved one;
  one.element = element;
  one.integers = LaunchRuns::BuiltinsOf(setting, thread);
  one.integers.insert(setting.integers.begin(), setting.integers.end());
  for (const auto& [variable, value] : trace.after.values) {
    if (value.kind == ThreadValue::Kind::kInteger) one.integers[variable] = value.integer;
  }
  observed_.push_back(std::move(one));
}

void ConvolutionSampler::SetShape(const ConvolutionShape& shape) {
  for (; shaped_ < observed_.size(); ++shaped_) observed_[shaped_].shape = shape;
}

}  // namespace evo
