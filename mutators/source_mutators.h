#pragma once

#include <memory>

#include "mutators/mutator.h"

namespace evo {

// The source mutators, one file each. What each does, when it applies and when it is safe: docs/mutators.md.
std::unique_ptr<Mutator> MakeUnrollPragma();
std::unique_ptr<Mutator> MakeLaunchBounds();
std::unique_ptr<Mutator> MakeFastMath();
std::unique_ptr<Mutator> MakeReadOnlyLoad();
std::unique_ptr<Mutator> MakeRestrictQualifier();
std::unique_ptr<Mutator> MakeHoistInvariant();
std::unique_ptr<Mutator> MakeAccumulatorSplit();
std::unique_ptr<Mutator> MakeReciprocal();
std::unique_ptr<Mutator> MakeInlineHint();
std::unique_ptr<Mutator> MakeStatementSwap();
std::unique_ptr<Mutator> MakeStatementDelete();
std::unique_ptr<Mutator> MakeConstantPerturb();
std::unique_ptr<Mutator> MakeThreadPerRowToWarp();
std::unique_ptr<Mutator> MakeThreadPerRowToBlock();
std::unique_ptr<Mutator> MakeWarpReduction();
std::unique_ptr<Mutator> MakeWorkPerThread();
std::unique_ptr<Mutator> MakeExpToExp2();
std::unique_ptr<Mutator> MakeBlockOrder();
std::unique_ptr<Mutator> MakeBlockShape();
std::unique_ptr<Mutator> MakeIndexStrength();
std::unique_ptr<Mutator> MakeRegisterTile();
std::unique_ptr<Mutator> MakeBarrierNarrow();
std::unique_ptr<Mutator> MakeAccumulatePrecision();
std::unique_ptr<Mutator> MakeStripMine();
std::unique_ptr<Mutator> MakePrefetchNext();
std::unique_ptr<Mutator> MakeLoopPeel();
std::unique_ptr<Mutator> MakeRegisterCache();
std::unique_ptr<Mutator> MakeCacheHintStore();
std::unique_ptr<Mutator> MakeVectorLoad();
std::unique_ptr<Mutator> MakeGridStride();
std::unique_ptr<Mutator> MakeSharedPadding();
std::unique_ptr<Mutator> MakeLoopInterchange();
std::unique_ptr<Mutator> MakeUnrollAndJam();
std::unique_ptr<Mutator> MakeSharedSwizzle();
std::unique_ptr<Mutator> MakeLoopFusion();
std::unique_ptr<Mutator> MakeLoopFission();
std::unique_ptr<Mutator> MakeSharedStage();
std::unique_ptr<Mutator> MakeAsyncStage();
std::unique_ptr<Mutator> MakeDoubleBuffer();
std::unique_ptr<Mutator> MakePackedHalf2();
std::unique_ptr<Mutator> MakeExpressionReplace();
std::unique_ptr<Mutator> MakeStatementCopy();
std::unique_ptr<Mutator> MakeStatementMove();
std::unique_ptr<Mutator> MakeOperandSwap();
std::unique_ptr<Mutator> MakeCoalesceExchange();

}  // namespace evo
