#pragma once

#include <optional>
#include <string>

#include "mutators/analysis/rows/row_source.h"
#include "mutators/mutator.h"

namespace evo {

// What all launches of a source leave as forms of the rows of a matrix, however its threads and kernels share the work.
struct RowsOfLaunches {
  RowKernelText text;     // one kernel that leaves the same
  Parameters parameters;  // the only values for which this was shown
  std::string when;       // sizes for which it is so; empty for all
};

// Found by running all launches on numbers, and kernels of known forms on the same, with several sizes; nullopt if they are no
// such forms, with the reason where somebody may ask. The source has no templates and structs (WrittenOut).
std::optional<RowsOfLaunches> AsRowsOfLaunches(const MutationContext& context, std::string& why);

}  // namespace evo
