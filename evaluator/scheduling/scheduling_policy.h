#pragma once

#include <chrono>
#include <string>

namespace evo {

// How long a stage on a run worker may take: this many times the longest stage of the baseline, and at least so long.
struct DeadlineFactor {
  double of_baseline = 1;
  std::chrono::milliseconds least{0};
};

// How candidates are scheduled on a kind of device.
struct SchedulingPolicy {
  bool pauses_compilers = false;  // compile workers stand still while a kernel is timed, since both need the same cores
  bool measures_machine = false;  // kernels of ours measure the device at both ends of a run
  bool has_sanitizers = false;    // compute-sanitizer can watch a champion candidate
  bool standby_worker = false;    // a run worker takes long to start: keep one in reserve
  bool checks_cuda = false;       // what runs here must also be valid CUDA; compile workers make a second, checked image
  std::string arch;               // what candidates are compiled for; empty: the device's own
  DeadlineFactor candidate_deadline;
};

// Throws Error for a kind of device that it does not know.
SchedulingPolicy PolicyFor(const std::string& device_kind);

}  // namespace evo
