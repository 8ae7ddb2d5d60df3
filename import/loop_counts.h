#pragma once

#include <optional>

#include "import/draft_builder.h"

namespace evo {

// How often the loops of a kernel run, in names of the host.
struct LoopCounts {
  // Terms that are added up for one element by all threads: the product of the trip counts around the sum that has most of them;
  // without a loop the number of sums in one statement. nullopt if a bound is not known.
  std::optional<HostExpression> terms;
  HostExpression trips;  // of one thread: the product of the deepest nest, as far as bounds are known; 1 without loops
  bool adds = false;     // real numbers are added up at all
};

LoopCounts LoopCountsOf(const SourceProgram& program, HostCode& host, const TakenLaunch& launch);

}  // namespace evo
