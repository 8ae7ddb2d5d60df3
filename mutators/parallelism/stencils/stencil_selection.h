#pragma once

#include <optional>

#include "mutators/analysis/stencils/stencil.h"
#include "mutators/parallelism/stencils/stencil_freedom.h"
#include "mutators/parallelism/stencils/stencil_statements.h"
#include "mutators/parallelism/stencils/stencil_weights.h"

namespace evo {

// A statement by which a thread stores something else at an edge and returns. Instead of that it can compute what it would store
// elsewhere, and select: without a branch, the sums of neighbouring elements are computed side by side.
struct StencilSelection {
  int statement = -1;  // `if (condition) { target = edge; return; }`
  int condition = -1, edge = -1;
  int store = -1, value = -1;  // the kernel's last statement, which stores `value`
};

// The selection that a kernel allows, with several elements a thread: what it computes away from edges does no harm at edges.
std::optional<StencilSelection> SelectionIn(const SyntaxTree& tree, const Stencil& found, const StencilFreedom& freedom,
                                            const StencilStatements& statements, const StencilWeights& weights);

}  // namespace evo
