#pragma once

#include "mutators/analysis/source/counted_loop.h"

namespace evo {

// Whether an index is the loop's counter plus or minus something that the loop does not change.
bool IsUnitStride(const SyntaxTree& tree, int index, const CountedLoop& loop);
// Whether an expression is a pointer or an array in shared memory, and the same in every iteration.
bool IsSteadyBase(const SyntaxTree& tree, int base, const CountedLoop& loop);

}  // namespace evo
