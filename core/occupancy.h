#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/evaluation.h"

namespace evo {

// What a multiprocessor of an architecture holds at most, from the table of compute capabilities in CUDA's programming guide.
struct MultiprocessorLimits {
  int warps = 0;
  int blocks = 0;
  int shared_bytes = 0;  // for all its blocks together
  int registers = 65536;
};

// Of "sm_90a"; all zero for an architecture that this version does not know.
MultiprocessorLimits LimitsOf(std::string_view arch);

// A launch as CaseMeasurement::launches describes it.
struct DescribedLaunch {
  double blocks = 0;  // of the grid
  int threads = 0;    // of a block
};

// In their order; what is no launch, such as a memset, is left out.
std::vector<DescribedLaunch> LaunchesOf(std::string_view described);

// How many blocks fit a multiprocessor, and why not more.
struct OccupancyLimit {
  int blocks = 0;     // 0: not known
  std::string by;     // "registers", "shared memory", "block size" or "number of blocks"; empty: not known
  bool full = false;  // all warps that a multiprocessor can hold are there, so that nothing limits it
};

// Of a block of so many threads with the registers and the shared memory of `facts`.
OccupancyLimit LimitOf(const KernelFacts& facts, int threads, const MultiprocessorLimits& limits);

}  // namespace evo
