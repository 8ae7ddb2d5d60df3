#pragma once

#include "mutators/analysis/scans/part_scan.h"
#include "mutators/mutator.h"

namespace evo {

// The edit with which a block scans each part: in registers and by shuffles, a tile at a time.
Proposal PartScanProposal(const MutationContext& context, const PartScan& scan);

}  // namespace evo
