#pragma once

#include <boost/describe/class.hpp>
#include <string>
#include <vector>

#include "core/evaluation.h"

namespace evo {

inline constexpr const char* kCountedCandidate = "candidate";
inline constexpr const char* kCountedBaseline = "baseline";

// What the GPU's own counters say of a program on one case, all its launches together. Shares are of the peak over the whole
// time, 0 to 1. kNoValue: this GPU does not count it.
struct HardwareCounters {
  std::string program;  // kCountedCandidate or kCountedBaseline
  std::string case_name;
  double counted_ns = kNoValue;      // with the clocks as they were while it was counted
  double dram = kNoValue;            // bandwidth of the device's memory
  double l2 = kNoValue;              // bandwidth of L2
  double l1 = kNoValue;              // wavefronts of L1 and shared memory
  double tensor = kNoValue;          // cycles in which tensor cores are active
  double fma = kNoValue;             // instructions of the pipe for float multiply-adds
  double alu = kNoValue;             // of the pipe for integers and logic
  double xu = kNoValue;              // of the pipe for special functions and conversions
  double lsu = kNoValue;             // of the pipe for loads and stores
  double issue = kNoValue;           // issue slots that issue an instruction
  double active_warps = kNoValue;    // of those that a multiprocessor can hold, while it has any
  double bank_conflicts = kNoValue;  // of the wavefronts of shared memory, those that conflicts add
  // Of the time that warps are there, what they wait for.
  double wait_memory = kNoValue;      // a value from global or local memory (long scoreboard)
  double wait_shared = kNoValue;      // a value from shared memory or the pipe for special functions (short scoreboard)
  double wait_barrier = kNoValue;     // the other warps of the block
  double wait_math = kNoValue;        // an arithmetic pipe that is busy
  double wait_queue = kNoValue;       // the queue to shared memory and special functions (mio throttle)
  double wait_load_queue = kNoValue;  // the queue to global and local memory (lg throttle)
  double wait_fixed = kNoValue;       // the fixed latency of the instruction before
};
BOOST_DESCRIBE_STRUCT(HardwareCounters, (),
                      (program, case_name, counted_ns, dram, l2, l1, tensor, fma, alu, xu, lsu, issue, active_warps,
                       bank_conflicts, wait_memory, wait_shared, wait_barrier, wait_math, wait_queue, wait_load_queue,
                       wait_fixed))

}  // namespace evo
