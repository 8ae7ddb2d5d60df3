#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// A kernel that leaves the counts of each of its blocks in a workspace, as many elements for each, and another one that adds them
// up: it stores the sum of each bin, and nothing else.
struct PartialCounts {
  std::string kernel;   // that counts
  std::string adding;   // that adds up
  std::string partial;  // the workspace, and
  std::string total;    // the sums, as launch lines call them
  std::string type;     // of a count
  std::int64_t bins = 0;
  Parameters parameters;  // the only values for which this was shown
};

// Of a kernel that stores, where this parameter points to, `bins` counts of each block: what adds them up behind its only launch.
std::optional<PartialCounts> PartialCountsOf(const MutationContext& context, const LaunchDirective& counting, int kernel,
                                             const std::string& parameter, std::int64_t bins);

// The launches if all blocks added to the total instead: it takes the workspace's place, and is not added up any more.
KernelTemplate WithoutPartialCounts(KernelTemplate rendered, const std::vector<PartialCounts>& all);

// Lets a proposal that was made for these launches set the total to zero before, and leave the other kernel out, if it changes
// one that counts.
void LeaveOutPartialCounts(const MutationContext& without, const std::vector<PartialCounts>& all, Proposal& proposal);

}  // namespace evo
