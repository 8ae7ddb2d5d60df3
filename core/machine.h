#pragma once

#include <cstddef>
#include <string>

#include "core/evaluation.h"

namespace evo {

// What a device does at its best, by kernels of ours, at one moment of a run. A figure that the device cannot give is kNoValue.
struct MachineState {
  std::string moment;           // "start" or "end" of a run
  int ordinal = 0;              // of the device
  double launch_ns = kNoValue;  // an empty kernel
  double control_ratio =
      kNoValue;  // time of a kernel over that of the same with a quarter of the work: near 4 on a machine in order
  double dram_bytes_per_s = kNoValue;  // copied: read plus written
  double l2_bytes_per_s = kNoValue;    // read again and again, past L1
  double f32_per_s = kNoValue;         // operations; a fused multiply-add is two
  double tensor_per_s = kNoValue;      // the same on tensor cores, fp16 with sums in fp32
  std::size_t l2_bytes = 0;
  ClockState clocks;  // after all that
};
BOOST_DESCRIBE_STRUCT(MachineState, (),
                      (moment, ordinal, launch_ns, control_ratio, dram_bytes_per_s, l2_bytes_per_s, f32_per_s, tensor_per_s,
                       l2_bytes, clocks))

// Least time in which a device can read and write `bytes` and do `operations`, whatever the kernel: a candidate that takes less
// was not timed right. Generous, for it must never blame an honest one: every byte comes through L2 once at least, arithmetic is
// done at the highest rate there is, and three quarters of that time are already believed. kNoValue if the machine was not
// measured.
double FloorNs(const MachineState& machine, double bytes, double operations);

}  // namespace evo
