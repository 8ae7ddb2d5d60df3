#pragma once

#include <optional>
#include <string>

#include "mutators/analysis/scans/prefix_scan.h"

namespace evo {

// A loop of one launch for each distance, 1, 2, 4, .., after each of which two buffers exchange their names: behind it one of
// them has the prefix sums, the input after an even number of turns and the other one after an odd one. What has them not has the
// sums of windows of half the length, or what it had at first. Found by running it.
struct SwappedScan {
  PrefixScan scan;     // from the input into the other buffer
  std::string turns;   // how many, as launch lines may say it
  std::string window;  // the length of the windows, if there are at least two turns
};

std::optional<SwappedScan> AsSwappedScan(const MutationContext& context);

}  // namespace evo
