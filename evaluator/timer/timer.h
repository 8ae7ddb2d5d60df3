#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/evaluation.h"
#include "core/rng.h"
#include "evaluator/gate/gate.h"
#include "evaluator/timer/stopping_criterion.h"

namespace evo {

enum class L2State { kHot, kCold };

// A run of the program as it is timed: inputs, outputs, caches and instruction caches prepared. `contents`: what the inputs hold
// beforehand, if that changes.
TimedRun PrepareTimedRun(const Device& device, const BoundProgram& bound, L2State l2,
                         const std::vector<DeviceCopy>& contents = {});

// How to measure for longer while no job waits for the device.
struct IdleMeasurement {
  StoppingCriterion criterion;
  std::function<bool()> jobs_wait;
  // Wall-clock time of one measurement, preparations included: half of what the shortest deadline of a stage allows.
  std::chrono::milliseconds most{200};
};

// Times a program on one case. The timer rotates among several input sets, so that no timed launch sees the data of the launch
// before it; it poisons the outputs before every timed launch, and checks what timed launches wrote.
class Timer {
 public:
  Timer(Device& device, Gate& gate, L2State l2, StoppingCriterion criterion, std::uint64_t seed)
      : device_(device), gate_(gate), l2_(l2), criterion_(criterion), rng_(seed) {}

  // `bound` holds the same program over each input set. Measures until the criterion is met, or the criterion of `idle` while no
  // job waits. Fills in everything of a CaseMeasurement except what the case is.
  std::variant<CaseMeasurement, Failure> Measure(const std::vector<BoundProgram>& bound, CheckedErrors& errors,
                                                 const std::optional<IdleMeasurement>& idle = {});

  using Pair = std::pair<CaseMeasurement, CaseMeasurement>;

  // Two programs interleaved: `rounds` times one launch of each, fewer where that would take more than two seconds. Results in
  // the order given. Before each launch the inputs are written again, with what they hold. What the first program writes over
  // each set is checked.
  std::variant<Pair, Failure> MeasureInterleaved(const std::vector<BoundProgram>& first, const std::vector<BoundProgram>& second,
                                                 CheckedErrors& errors_of_first, int rounds);

  // As MeasureInterleaved, but before each launch the inputs get contents in place that no launch has seen (FreshContents); fewer
  // rounds where they would take more than a second. Afterwards the inputs hold what they held, and the first program answers
  // them once more.
  std::variant<Pair, Failure> MeasureOnFreshData(const std::vector<BoundProgram>& first, const std::vector<BoundProgram>& second,
                                                 CheckedErrors& errors_of_first, int rounds);

  // Makes a set of these contents, with the reference's answer.
  using MakeInputs = std::function<std::unique_ptr<InputSet>(const DrawnArguments&)>;
  // Checks `count` answers of the program to contents that no launch has seen: it is timed on them like before, and only then is
  // the reference's answer computed.
  std::optional<Failure> CheckOnFreshData(const std::vector<BoundProgram>& bound, const Task& task, CheckedErrors& errors,
                                          int count, const MakeInputs& make_inputs);

 private:
  // What the inputs hold when a timed launch begins: what they hold already, the same written again, or what no launch has seen.
  enum class Contents { kUntouched, kWrittenAgain, kFresh };
  struct Batch {
    std::size_t first = 0;  // number of the input set
    std::size_t count = 1;
    std::size_t warm_up = 0;  // launches at the beginning that are left out of the spans
    Contents contents = Contents::kUntouched;
  };
  struct Rounds {
    int count = 0;
    double most_seconds = 0;  // kernel time
    Contents contents = Contents::kWrittenAgain;
  };
  struct Spans {
    std::vector<std::uint32_t> span;
    std::vector<std::uint32_t> busy;
    std::vector<double> wall_ns;
    int discarded = 0;
    int sm_low_mhz = -1;
    int sm_high_mhz = -1;
    std::string throttle_reason;
    void Note(const ClockState& clocks);
    std::size_t launches() const { return span.size() + static_cast<std::size_t>(discarded); }
  };
  double Seconds(const Spans& spans) const;
  std::vector<DeviceCopy> Draw(const std::vector<BoundProgram>& bound, const InputSet& set, Contents contents);
  std::optional<Failure> TimeBatch(const std::vector<BoundProgram>& bound, const Batch& batch, Spans& spans);
  std::optional<Failure> TimeRounds(const std::vector<BoundProgram>& first, const std::vector<BoundProgram>& second,
                                    const Rounds& rounds, Spans (&spans)[2]);
  // Runs the program over each set that it was launched on, like before, and checks what it writes.
  std::optional<Failure> CheckEachSet(const std::vector<BoundProgram>& bound, std::size_t launched, CheckedErrors& errors);
  CaseMeasurement Summarise(const Spans& spans) const;

  Device& device_;
  Gate& gate_;
  L2State l2_;
  StoppingCriterion criterion_;
  Rng rng_;
};

}  // namespace evo
