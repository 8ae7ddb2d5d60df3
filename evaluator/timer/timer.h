#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/evaluation.h"
#include "core/rng.h"
#include "evaluator/gate/gate.h"
#include "evaluator/timer/stopping_criterion.h"

namespace evo {

enum class L2State { kHot, kCold };

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

  // Two programs interleaved: `rounds` times one launch of each, fewer where that would take more than two seconds. Results in
  // the order given. What the first program writes over each set is checked.
  std::variant<std::pair<CaseMeasurement, CaseMeasurement>, Failure> MeasureInterleaved(const std::vector<BoundProgram>& first,
                                                                                        const std::vector<BoundProgram>& second,
                                                                                        CheckedErrors& errors_of_first,
                                                                                        int rounds);

 private:
  struct Spans {
    std::vector<std::uint32_t> span;
    std::vector<std::uint32_t> busy;
    std::vector<double> wall_ns;
    int discarded = 0;
    int sm_low_mhz = -1;
    int sm_high_mhz = -1;
    std::string throttle_reason;
    void Note(const ClockState& clocks);
  };
  double Seconds(const Spans& spans) const;
  TimedRun Prepared(const BoundProgram& bound);
  // Times `count` launches from set number `first` on. The first `warm_up` launches are left out of the spans.
  std::optional<Failure> TimeBatch(const std::vector<BoundProgram>& bound, std::size_t first, std::size_t count,
                                   std::size_t warm_up, Spans& spans);
  CaseMeasurement Summarise(const Spans& spans) const;

  Device& device_;
  Gate& gate_;
  L2State l2_;
  StoppingCriterion criterion_;
  Rng rng_;
};

}  // namespace evo
