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

// What is measured for longer while nothing waits for the device, and by which criterion then.
struct IdleMeasurement {
  StoppingCriterion criterion;
  std::function<bool()> jobs_wait;
  // By the clock, as a kernel with much to prepare takes longer than its own time: half of what the shortest deadline of a stage
  // allows.
  std::chrono::milliseconds most{200};
};

// Times a program on one case. Several input sets rotate, so that no timed launch sees the data of the one before it; outputs are
// poisoned before every timed launch; and what the timed launches wrote is checked.
class Timer {
 public:
  Timer(Device& device, Gate& gate, L2State l2, StoppingCriterion criterion, std::uint64_t seed)
      : device_(device), gate_(gate), l2_(l2), criterion_(criterion), rng_(seed) {}

  // `bound` holds the same program over each input set. Measures until the criterion is met, or `idle`'s where no job waits.
  // Fills in everything of a CaseMeasurement but name, weight and errors.
  std::variant<CaseMeasurement, Failure> Measure(const std::vector<BoundProgram>& bound, CheckedErrors& errors,
                                                 const std::optional<IdleMeasurement>& idle = {});

  // Two programs in turn, one launch each, `rounds` times, fewer where that would take more than two seconds; results in the
  // order given. What the first then writes over each set is checked.
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
  // Leaves the first `warm_up` out of the spans.
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
