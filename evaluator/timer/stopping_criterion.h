#pragma once

#include <cstdint>
#include <vector>

namespace evo {

// When enough has been measured.
struct StoppingCriterion {
  int min_samples = 20;
  int max_samples = 200;
  int usual_samples = 0;               // fewer only where `max_seconds` are over
  double relative_half_width = 0.005;  // of the 95% confidence interval of the median
  double max_seconds = 0.25;           // device time spent on one case
  // A candidate whose fastest sample is beyond this many ticks after `give_up_samples` is given up: a race that it cannot win. 0:
  // never.
  double prune_ticks = 0;
  int give_up_samples = 5;
  // Beyond this many times as much, two samples are enough to see it; what looked so when it was checked is not launched more
  // often before they are.
  static constexpr double kHopelessFactor = 4;
  static constexpr int kHopelessSamples = 2;
  bool looks_hopeless = false;
  // A candidate of which even the lower end of that interval is beyond this many ticks needs no more precision. 0: never.
  double decided_ticks = 0;

  // For kernels of a few microseconds on a GPU.
  static StoppingCriterion ForCuda();
  // The same while nothing else waits for the GPU: more samples and a narrower interval.
  static StoppingCriterion ForIdleCuda();
  // For emulated kernels of milliseconds on one CPU thread.
  static StoppingCriterion ForCpu();

  bool GivesUp(const std::vector<std::uint32_t>& ticks) const;
  bool Enough(const std::vector<std::uint32_t>& ticks, double tick_ns) const;
};

}  // namespace evo
