#pragma once

#include "mutators/analysis/grid_runs/grid_launches.h"
#include "mutators/analysis/numbers/expression_kinds.h"
#include "mutators/mutator.h"

namespace evo {

// Runs all launches of a source in their order, all blocks, all threads of a block together: on numbers where it computes indices
// and conditions, and on random numbers instead of data. Who reads what another thread has written without a barrier between
// them, or what another block of the same launch has written, is refused, and so is whatever is not understood.
class GridRun {
 public:
  // The context outlives the object.
  explicit GridRun(const MutationContext& context) : context_(context), kinds_(context.tree) {}
  GridTrace Run(const GridSetting& setting) { return GridLaunches(context_, kinds_, setting).Run(); }

 private:
  const MutationContext& context_;
  ExpressionKinds kinds_;
};

}  // namespace evo
