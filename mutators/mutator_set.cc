#include "mutators/mutator_set.h"

#include "mutators/genetic/crossover.h"
#include "mutators/genetic/parameter_mutators.h"
#include "mutators/source_mutators.h"

namespace evo {

MutatorSet::MutatorSet() {
  for (auto make :
       {MakeParameterStep,   MakeParameterDraw,       MakeParameterMix,        MakeCrossover,        MakeUnrollPragma,
        MakeLaunchBounds,    MakeAccumulatorSplit,    MakeHoistInvariant,      MakeReciprocal,       MakeFastMath,
        MakeReadOnlyLoad,    MakeRestrictQualifier,   MakeInlineHint,          MakeStatementSwap,    MakeStatementDelete,
        MakeConstantPerturb, MakeThreadPerRowToWarp,  MakeThreadPerRowToBlock, MakeWarpReduction,    MakeWorkPerThread,
        MakeExpToExp2,       MakeBlockOrder,          MakeBlockShape,          MakeIndexStrength,    MakeRegisterTile,
        MakeBarrierNarrow,   MakeAccumulatePrecision, MakeStripMine,           MakePrefetchNext,     MakeLoopPeel,
        MakeRegisterCache,   MakeCacheHintStore,      MakeVectorLoad,          MakeGridStride,       MakeSharedPadding,
        MakeLoopInterchange, MakeUnrollAndJam,        MakeSharedSwizzle,       MakeLoopFusion,       MakeLoopFission,
        MakeSharedStage,     MakeAsyncStage,          MakeDoubleBuffer,        MakePackedHalf2,      MakeCoalesceExchange,
        MakeOperandSwap,     MakeStatementMove,       MakeStatementCopy,       MakeExpressionReplace}) {
    mutators_.push_back(make());
  }
}

const Mutator* MutatorSet::Find(std::string_view name) const {
  for (const auto& mutator : mutators_) {
    if (mutator->name() == name) return mutator.get();
  }
  return nullptr;
}

std::vector<std::pair<std::string, double>> MutatorSet::DefaultOperators() const {
  std::vector<std::pair<std::string, double>> operators;
  for (const auto& mutator : mutators_) operators.emplace_back(mutator->name(), mutator->weight());
  return operators;
}

}  // namespace evo
