#pragma once

#include <optional>

#include "mutators/analysis/scans/part_scan.h"

namespace evo {

// A source whose launches store the prefix sums of each row of a matrix by itself, the threads of a block together: as parts of
// so many elements as a row has, `PartScan::size`, of which there are `PartScan::rows`. Found by running it; nullopt for others.
std::optional<PartScan> AsRowScan(const MutationContext& context);

}  // namespace evo
