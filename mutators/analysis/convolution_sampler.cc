#include "mutators/analysis/convolution_sampler.h"

#include <fmt/format.h>

namespace evo {
namespace {

// Threads that are tried for each element that is wanted.
constexpr std::size_t kTriesEach = 24;

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

// A thread's element; nullopt if it stores none. Refuses if it does anything else.
std::optional<ConvolutionSample> ConvolutionSampler::SampleOf(const ThreadTrace& trace) {
  const auto refuse = [&](std::string why) {
    Refuse(std::move(why));
    return std::nullopt;
  };
  if (!trace.refusal.empty()) return refuse(trace.refusal);
  if (trace.stores.empty()) return std::nullopt;
  const auto& [parameter, elements] = *trace.stores.begin();
  if (trace.stores.size() > 1 || elements.size() > 1 || trace.after.times != 1)
    return refuse("a thread stores more than one element");
  if (output_ >= 0 && output_ != parameter) return refuse("its threads store to two buffers");
  output_ = parameter;
  if (trace.after.rounded) return refuse("it rounds parts of its sum");
  if (trace.after.reals_compared) return refuse("it compares real numbers before its sum is there");
  const auto before = trace.before.values.find(parts_.accumulator), after = trace.after.values.find(parts_.accumulator);
  if (before == trace.before.values.end() || after == trace.after.values.end())
    return refuse(fmt::format("{} has no value before its loop", tree_.node(parts_.accumulator).name));
  ConvolutionSample sample;
  sample.element = elements.begin()->first;
  sample.sum = after->second.real - before->second.real;
  if (!AddReads(trace, sample)) return std::nullopt;
  return sample;
}

// What the loop reads: of two buffers, of which the first that is seen counts as the images until more is known.
bool ConvolutionSampler::AddReads(const ThreadTrace& trace, ConvolutionSample& sample) {
  for (const auto& [buffer, read] : trace.after.reads) {
    const auto earlier = trace.before.reads.find(buffer);
    if (earlier != trace.before.reads.end() && earlier->second.size() == read.size()) continue;
    if (buffers_.x < 0)
      buffers_.x = buffer;
    else if (buffers_.f < 0 && buffer != buffers_.x)
      buffers_.f = buffer;
    if (buffer != buffers_.x && buffer != buffers_.f) return Refuse("its sum is of more than images and filters");
    (buffer == buffers_.x ? sample.x : sample.f) = read;
  }
  return true;
}

std::optional<ConvolutionSample> ConvolutionSampler::Sample(const LaunchRuns::Setting& setting, std::int64_t thread) {
  const ThreadTrace trace = runs_.Run(setting, thread);
  auto sample = SampleOf(trace);
  if (sample) Observe(setting, thread, trace, sample->element);
  return sample;
}

std::vector<ConvolutionSampler::Sampled> ConvolutionSampler::Some(const LaunchRuns::Setting& setting, std::size_t count) {
  std::vector<Sampled> samples;
  std::uint64_t random = 1;
  for (std::size_t tries = 0; samples.size() < count && tries < kTriesEach * count; ++tries) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const auto thread = static_cast<std::int64_t>((random >> 16) % static_cast<std::uint64_t>(setting.Threads()));
    auto sample = Sample(setting, thread);
    if (!why_.empty()) return {};
    if (sample) samples.emplace_back(thread, *std::move(sample));
  }
  return samples;
}

void ConvolutionSampler::Observe(const LaunchRuns::Setting& setting, std::int64_t thread, const ThreadTrace& trace,
                                 std::int64_t element) {
  ConvolutionObserved one;
  one.element = element;
  one.integers = LaunchRuns::BuiltinsOf(setting, thread);
  for (const auto& [variable, value] : trace.after.values) {
    if (value.kind == ThreadValue::Kind::kInteger) one.integers[variable] = value.integer;
  }
  observed_.push_back(std::move(one));
}

void ConvolutionSampler::SetShape(const ConvolutionShape& shape) {
  for (; shaped_ < observed_.size(); ++shaped_) observed_[shaped_].shape = shape;
}

}  // namespace evo
