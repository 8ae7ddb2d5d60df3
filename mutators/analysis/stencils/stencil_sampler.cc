#include "mutators/analysis/stencils/stencil_sampler.h"

#include <algorithm>
#include <utility>

namespace evo {

bool StencilSampler::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

// Adds a thread if it stores an element.
bool StencilSampler::Add(StencilLaunch& launch, std::int64_t number) {
  ThreadTrace trace = runs_.Run(launch.setting, number);
  if (!trace.refusal.empty()) return Refuse(trace.refusal);
  largest_number_ = std::max(largest_number_, trace.largest_number);
  names_.merge(trace.names);
  std::optional<std::int64_t> element;
  for (const ThreadTrace::Touch& touch : trace.touches) {
    if (!touch.store) continue;
    if (element && *element != touch.index) return Refuse("a thread stores more than one element");
    element = touch.index;
    stored_.insert(touch.memory);
  }
  if (!element) return trace.effects == 0 || Refuse("a thread changes more than elements and stores none");
  StencilThread thread{number, *element, {}, std::move(trace.touches)};
  if (decided_ && (!AddOther(launch.setting, 0, thread) || !AddOther(launch.setting, 1, thread))) return false;
  touched_ += thread.touches.size();
  if (touched_ > kMostTouches) return Refuse("its threads read too many elements where sizes are 11 to 27");
  for (const auto& [variable, value] : trace.after.values) {
    if (value.kind == ThreadValue::Kind::kInteger) thread.values[variable] = value.integer;
  }
  launch.threads.push_back(std::move(thread));
  return true;
}

// What the thread reads where all elements are one number.
bool StencilSampler::AddOther(const LaunchRuns::Setting& setting, double element, StencilThread& thread) {
  const auto drawn = std::exchange(runs_.given().element, element);
  ThreadTrace trace = runs_.Run(setting, thread.number);
  runs_.given().element = drawn;
  if (!trace.refusal.empty()) return Refuse(trace.refusal);
  bool stores = false;
  for (ThreadTrace::Touch& touch : trace.touches) {
    if (!touch.store) {
      thread.touches.push_back(std::move(touch));
      continue;
    }
    if (touch.index != thread.element) return Refuse("a thread stores more than one element");
    stored_.insert(touch.memory);
    stores = true;
  }
  return stores || Refuse("elements decide whether it stores");
}

bool StencilSampler::AddAll(StencilLaunch& launch) {
  for (std::int64_t number = 0; number < launch.setting.Threads(); ++number) {
    if (!Add(launch, number)) return false;
  }
  return true;
}

std::optional<std::size_t> StencilSampler::AddSome(StencilLaunch& launch, std::size_t count, std::size_t most) {
  const auto threads = static_cast<std::uint64_t>(launch.setting.Threads());
  const auto& block = launch.setting.block;
  const bool together = runs_.together();
  const std::uint64_t of_block = together ? static_cast<std::uint64_t>(block[0] * block[1] * block[2]) : threads;
  const std::size_t each = together ? 4 : most;
  std::uint64_t random = 1, first = 0;
  std::size_t run = 0;
  for (; launch.threads.size() < count && run < most; ++run) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    // A block that runs as a whole is worth more than one of its threads.
    if (run % each == 0) first = (random >> 16) % (threads / of_block) * of_block;
    if (!Add(launch, static_cast<std::int64_t>(first + (random >> 16) % of_block))) return std::nullopt;
  }
  return run;
}

}  // namespace evo
