#pragma once

#include <optional>
#include <string>

#include "mutators/analysis/scans/part_scan.h"

namespace evo {

// A source whose launches store the prefix sums of each row of a matrix by itself: as parts of
// so many elements as a row has, `PartScan::size`, of which there are `PartScan::rows`. Both may be numbers, where no size
// decides them, and one row may have as many elements as an expression of launch lines says. Found by running it; nullopt for
// others, with the reason where somebody may ask.
std::optional<PartScan> AsRowScan(const MutationContext& context, std::string& why);

}  // namespace evo
