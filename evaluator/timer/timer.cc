#include "evaluator/timer/timer.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>

#include "evaluator/gate/later_reference.h"
#include "evaluator/timer/fresh_contents.h"
#include "evaluator/timer/statistics.h"

namespace evo {
namespace {

// Discarding more than this share of the samples means that the machine, not the kernel, was measured.
constexpr double kMostDiscarded = 0.5;
// Slow programs get no more rounds than this: enough for a baseline of a third of a second.
constexpr int kFewestRounds = 8;
constexpr int kWarmUpRounds = 2;
constexpr double kMostSecondsInterleaved = 2;
constexpr double kMostSecondsFresh = 1;

std::uint32_t Clamped(std::uint64_t ticks) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(ticks, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

TimedRun PrepareTimedRun(const Device& device, const BoundProgram& bound, L2State l2, const std::vector<DeviceCopy>& contents) {
  TimedRun run{PrepareRun(bound, bound.inputs->poisons().Next(), contents), bound.sequence};
  run.preparation.displace_code = true;
  if (l2 == L2State::kCold) {
    run.preparation.flush_bytes = 2 * device.info().l2_bytes;
  } else {
    run.preparation.touch = bound.inputs->Touches();
  }
  return run;
}

void Timer::Spans::Note(const ClockState& clocks) {
  if (clocks.sm_mhz < 0) return;
  sm_low_mhz = sm_low_mhz < 0 ? clocks.sm_mhz : std::min(sm_low_mhz, clocks.sm_mhz);
  sm_high_mhz = std::max(sm_high_mhz, clocks.sm_mhz);
  if (clocks.throttle_reason.size() > throttle_reason.size()) throttle_reason = clocks.throttle_reason;
}

double Timer::Seconds(const Spans& spans) const {
  return std::accumulate(spans.span.begin(), spans.span.end(), 0.0) * device_.info().tick_ns * 1e-9;
}

std::vector<DeviceCopy> Timer::Draw(const std::vector<BoundProgram>& bound, const InputSet& set, Contents contents) {
  if (contents == Contents::kUntouched) return {};
  if (contents == Contents::kWrittenAgain) return SameContents(set, rng_);
  std::vector<const InputSet*> sources;  // one of each set and its copies
  for (const BoundProgram& one : bound) {
    const auto same = [&](const InputSet* other) { return other->number() == one.inputs->number(); };
    if (std::none_of(sources.begin(), sources.end(), same)) sources.push_back(one.inputs);
  }
  return FreshContents(set, sources, rng_);
}

std::optional<Failure> Timer::TimeBatch(const std::vector<BoundProgram>& bound, const Batch& batch, Spans& spans) {
  std::vector<TimedRun> runs;
  for (std::size_t i = 0; i < batch.count; ++i) {
    const BoundProgram& one = bound[(batch.first + i) % bound.size()];
    runs.push_back(PrepareTimedRun(device_, one, l2_, Draw(bound, *one.inputs, batch.contents)));
  }
  const TimedRuns timed = device_.Time(*bound.front().binding->image().loaded, runs);
  if (!timed.status.ok()) return ToFailure(timed.status);
  spans.Note(timed.clocks);
  for (const SequenceTime& time : std::span(timed.times).subspan(batch.warm_up)) {
    if (time.disturbed) {
      ++spans.discarded;
      continue;
    }
    spans.span.push_back(Clamped(time.span_ticks));
    spans.busy.push_back(Clamped(time.busy_ticks));
    spans.wall_ns.push_back(static_cast<double>(time.wall_ns));
  }
  return std::nullopt;
}

CaseMeasurement Timer::Summarise(const Spans& spans) const {
  CaseMeasurement measured;
  measured.tick_ns = device_.info().tick_ns;
  measured.median_ns = InterpolatedMedian(spans.span) * measured.tick_ns;
  measured.p10_ns = Quantile(spans.span, 0.1) * measured.tick_ns;
  measured.p90_ns = Quantile(spans.span, 0.9) * measured.tick_ns;
  measured.busy_ns = InterpolatedMedian(spans.busy) * measured.tick_ns;
  if (device_.policy().reports_wall_time) {
    std::vector<double> wall = spans.wall_ns;
    std::nth_element(wall.begin(), wall.begin() + static_cast<std::ptrdiff_t>(wall.size() / 2), wall.end());
    measured.wall_ns = wall[wall.size() / 2];
  }
  measured.samples = spans.span;
  measured.discarded = spans.discarded;
  measured.outliers = CountOutliers(spans.span);
  measured.sm_low_mhz = spans.sm_low_mhz;
  measured.sm_high_mhz = spans.sm_high_mhz;
  measured.throttle_reason = spans.throttle_reason;
  measured.pruned = criterion_.Prunes(spans.span);
  return measured;
}

std::variant<CaseMeasurement, Failure> Timer::Measure(const std::vector<BoundProgram>& bound, CheckedErrors& errors,
                                                      const std::optional<IdleMeasurement>& idle) {
  Spans spans;
  std::size_t next = 0;
  std::size_t attempted = 0;
  const std::size_t inspected_batch = rng_.Below(2);
  const auto start = std::chrono::steady_clock::now();
  const auto enough = [&] {
    const bool is_idle = idle && std::chrono::steady_clock::now() - start < idle->most && !idle->jobs_wait();
    const StoppingCriterion& criterion = is_idle ? idle->criterion : criterion_;
    return criterion.Enough(spans.span, device_.info().tick_ns);
  };
  for (std::size_t batch = 0; !enough(); ++batch) {
    // The length of a batch is random, so that no kernel can know which launch is the last of its batch, whose output is checked.
    // The first batch is no longer than it takes to see that a candidate is pruned.
    const int first = criterion_.looks_hopeless ? StoppingCriterion::kHopelessSamples : criterion_.prune_samples;
    const auto race = static_cast<std::size_t>(criterion_.prune_ticks > 0 && batch == 0 ? first : 8);
    const bool is_long = criterion_.looks_long || !device_.policy().batches_launches;
    std::size_t count = is_long ? 1 + rng_.Below(2) : race + rng_.Below(race / 2);
    if (batch == 0 && criterion_.looks_far_beyond) count = 1;
    // The first launch after a pause takes 13% longer on an H200, so it only warms up.
    const std::size_t warm_up = batch == 0 && !criterion_.looks_far_beyond ? 1 : 0;
    count += warm_up;
    if (auto failure = TimeBatch(bound, {next, count, warm_up}, spans)) return *failure;
    next += count;
    attempted += count - warm_up;
    if (batch == inspected_batch) {
      if (auto failure = gate_.Inspect(bound[(next - 1) % bound.size()], errors)) return *failure;
    }
    if (attempted >= 2 * static_cast<std::size_t>(criterion_.min_samples) &&
        spans.discarded > kMostDiscarded * static_cast<double>(attempted)) {
      return Failure{Outcome::kNoisy, "more than half of the samples were disturbed"};
    }
  }
  // What the last launch over each set wrote.
  const std::size_t touched = std::min(bound.size(), next);
  for (std::size_t i = 0; i < touched; ++i) {
    if (auto failure = gate_.Inspect(bound[i], errors)) return *failure;
  }
  return Summarise(spans);
}

std::optional<Failure> Timer::TimeRounds(const std::vector<BoundProgram>& first, const std::vector<BoundProgram>& second,
                                         const Rounds& rounds, Spans (&spans)[2]) {
  const std::vector<BoundProgram>* programs[2] = {&first, &second};
  for (int round = -kWarmUpRounds; round < rounds.count; ++round) {
    for (std::size_t place = 0; place < 2; ++place) {
      // Each program goes first as often as the other and meets each set as often. The two never follow each other on one set,
      // where the caches would favour the second.
      const auto number = static_cast<std::size_t>(round) + kWarmUpRounds;
      const std::size_t i = (number + place) % 2;
      const Batch batch{number + i * (programs[i]->size() / 2), 1, 0, rounds.contents};
      Spans unused;
      if (auto failure = TimeBatch(*programs[i], batch, round < 0 ? unused : spans[i])) return failure;
    }
    // Ends after an even number of rounds, so that each has gone first as often as the other.
    if (round + 1 >= kFewestRounds && round % 2 == 1 && Seconds(spans[0]) + Seconds(spans[1]) > rounds.most_seconds) break;
  }
  if (spans[0].span.empty() || spans[1].span.empty()) return Failure{Outcome::kNoisy, "every sample was disturbed"};
  return std::nullopt;
}

std::optional<Failure> Timer::CheckEachSet(const std::vector<BoundProgram>& bound, std::size_t launched, CheckedErrors& errors) {
  const std::size_t count = std::min(launched + kWarmUpRounds, bound.size());
  Spans unused;
  if (auto failure = TimeBatch(bound, {0, count, 0, Contents::kWrittenAgain}, unused)) return failure;
  for (std::size_t i = 0; i < count; ++i) {
    if (auto failure = gate_.Inspect(bound[i], errors)) return failure;
  }
  return std::nullopt;
}

std::variant<Timer::Pair, Failure> Timer::MeasureInterleaved(const std::vector<BoundProgram>& first,
                                                             const std::vector<BoundProgram>& second,
                                                             CheckedErrors& errors_of_first, int rounds) {
  Spans spans[2];
  if (auto failure = TimeRounds(first, second, {rounds, kMostSecondsInterleaved, Contents::kWrittenAgain}, spans))
    return *failure;
  // The second program has overwritten most of what the first wrote. So the first runs once more and is checked; it is timed like
  // before, so that no kernel can tell this run from the others.
  if (auto failure = CheckEachSet(first, spans[0].launches(), errors_of_first)) return *failure;
  return std::pair{Summarise(spans[0]), Summarise(spans[1])};
}

std::variant<Timer::Pair, Failure> Timer::MeasureOnFreshData(const std::vector<BoundProgram>& first,
                                                             const std::vector<BoundProgram>& second,
                                                             CheckedErrors& errors_of_first, int rounds) {
  Spans spans[2];
  if (auto failure = TimeRounds(first, second, {rounds, kMostSecondsFresh, Contents::kFresh}, spans)) return *failure;
  for (const BoundProgram& one : first) {
    if (DeviceStatus status = RestoreContents(device_.memory(), *one.inputs); !status.ok()) return ToFailure(status);
  }
  if (auto failure = CheckEachSet(first, spans[0].launches(), errors_of_first)) return *failure;
  return std::pair{Summarise(spans[0]), Summarise(spans[1])};
}

std::optional<Failure> Timer::CheckOnFreshData(const std::vector<BoundProgram>& bound, const Task& task, CheckedErrors& errors,
                                               int count, const MakeInputs& make_inputs) {
  for (int answer = 0; answer < count; ++answer) {
    const BoundProgram& one = bound[rng_.Below(bound.size())];
    const std::vector<DeviceCopy> contents = Draw(bound, *one.inputs, Contents::kFresh);
    const TimedRun run = PrepareTimedRun(device_, one, l2_, contents);
    const TimedRuns timed = device_.Time(*one.binding->image().loaded, std::span(&run, 1));
    if (!timed.status.ok()) return ToFailure(timed.status);
    const std::unique_ptr<InputSet> judge = make_inputs(ContentsAfter(device_.memory(), task, *one.inputs, contents));
    if (auto failure = JudgeByLaterReference(device_, one, *judge, errors)) return failure;
    if (DeviceStatus status = RestoreContents(device_.memory(), *one.inputs); !status.ok()) return ToFailure(status);
  }
  return std::nullopt;
}

}  // namespace evo
