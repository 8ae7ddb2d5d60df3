#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mutators/mutator.h"
#include "mutators/parallelism/histograms/partial_counts.h"

namespace evo {

// A source whose kernels add by atomics to global memory where they add to arrays of counts in shared memory.
struct PlainCounts {
  std::string text;
  std::vector<PartialCounts> partial;  // of kernels that added to workspaces; they add to the totals if their launches pass them
};

// The source with such kernels in the place of those that set arrays in shared memory to zero, then count in them, and at last
// add them to global memory, or leave them there for another launch that adds them up; nullopt if it has none.
std::optional<PlainCounts> WithoutSharedCounts(const MutationContext& context);

}  // namespace evo
