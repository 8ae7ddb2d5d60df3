#pragma once

#include <cstddef>
#include <string>

#include "core/evaluation.h"

namespace evo {

// The best rates of a device that our own kernels measured at one moment of a run. kNoValue: not measurable on this device.
struct MachineState {
  std::string moment;                  // "start" or "end" of a run
  int ordinal = 0;                     // of the device
  double launch_ns = kNoValue;         // an empty kernel
  double control_ratio = kNoValue;     // time of a kernel over its time with a quarter of the work: near 4 if timing works
  double dram_bytes_per_s = kNoValue;  // of a copy, read plus written
  double l2_bytes_per_s = kNoValue;    // of repeated reads that bypass L1
  double f32_per_s = kNoValue;         // operations; a fused multiply-add is two
  double tensor_per_s = kNoValue;      // operations of the tensor cores, fp16 with fp32 sums
  std::size_t l2_bytes = 0;
  ClockState clocks;  // after these measurements
};
BOOST_DESCRIBE_STRUCT(MachineState, (),
                      (moment, ordinal, launch_ns, control_ratio, dram_bytes_per_s, l2_bytes_per_s, f32_per_s, tensor_per_s,
                       l2_bytes, clocks))

// A lower bound of the time in which any kernel can move `bytes` and execute `operations` on the device: a candidate that takes
// less was not timed correctly. The bound is generous, because it must never reject an honest candidate: each byte passes L2 only
// once, arithmetic runs at the highest measured rate, and three quarters of that time are accepted. kNoValue if the machine was
// not measured.
double FloorNs(const MachineState& machine, double bytes, double operations);

}  // namespace evo
