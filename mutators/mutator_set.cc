#include "mutators/mutator_set.h"

#include <algorithm>
#include <array>
#include <span>

// The list of all mutators, by family. To add one, write FAMILY/NAME.cc, which ends with its factory MakeName(); add the factory
// to its family here, and the file to CMakeLists.txt. The order does not matter to a run, which draws operators sorted by name.
namespace evo {

// A function type, so that `Factory MakeName;` declares `std::unique_ptr<Mutator> MakeName();`.
using Factory = std::unique_ptr<Mutator>();

// memory/
Factory MakeVectorLoad, MakeVectorLoadShared, MakeCoalesceExchange, MakeReadOnlyLoad, MakeCacheHintStore, MakePrefetchNext,
    MakeRegisterCache, MakeSharedStage, MakeAsyncStage, MakeDoubleBuffer, MakeSharedPadding, MakeSharedSwizzle;
constexpr std::array kMemory{MakeVectorLoad,     MakeVectorLoadShared, MakeCoalesceExchange, MakeReadOnlyLoad,
                             MakeCacheHintStore, MakePrefetchNext,     MakeRegisterCache,    MakeSharedStage,
                             MakeAsyncStage,     MakeDoubleBuffer,     MakeSharedPadding,    MakeSharedSwizzle};

// loops/
Factory MakeStripMine, MakeLoopPeel, MakeLoopInterchange, MakeUnrollAndJam, MakeLoopFusion, MakeLoopFission, MakeHoistInvariant,
    MakeIndexStrength, MakeOnlineSoftmax;
constexpr std::array kLoops{MakeStripMine,   MakeLoopPeel,       MakeLoopInterchange, MakeUnrollAndJam, MakeLoopFusion,
                            MakeLoopFission, MakeHoistInvariant, MakeIndexStrength,   MakeOnlineSoftmax};

// arithmetic/
Factory MakeFastMath, MakeExpToExp2, MakeReciprocal, MakePackedHalf2, MakeAccumulatorSplit, MakeAccumulatePrecision;
constexpr std::array kArithmetic{MakeFastMath,    MakeExpToExp2,        MakeReciprocal,
                                 MakePackedHalf2, MakeAccumulatorSplit, MakeAccumulatePrecision};

// parallelism/
Factory MakeThreadPerRowToWarp, MakeThreadPerRowToBlock, MakeWarpReduction, MakeRegisterTile, MakeWorkPerThread, MakeGridStride,
    MakeBlockShape, MakeBlockOrder, MakeBarrierNarrow, MakeTileContraction, MakeTensorContraction, MakeFuseAttention,
    MakeReduceGrid, MakeWarpGroupContraction, MakePrivateCounts, MakePrivateSums, MakeLookBackScan, MakeConvolutionTiles,
    MakeStencilRows, MakeStencilSums, MakeWindowRowSums, MakeSplitTensorContraction, MakeSplitTensorConvolution,
    MakeIntegerTensorContraction, MakeIntegerWarpGroupContraction, MakeSplitKTile, MakeSplitKTensor, MakeSplitKSplitTensor,
    MakeSplitKWarpGroup, MakeWarpGroupAttention;
constexpr std::array kParallelism{MakeThreadPerRowToWarp,
                                  MakeThreadPerRowToBlock,
                                  MakeWarpReduction,
                                  MakeRegisterTile,
                                  MakeWorkPerThread,
                                  MakeGridStride,
                                  MakeBlockShape,
                                  MakeBlockOrder,
                                  MakeBarrierNarrow,
                                  MakeTileContraction,
                                  MakeTensorContraction,
                                  MakeFuseAttention,
                                  MakeReduceGrid,
                                  MakeWarpGroupContraction,
                                  MakePrivateCounts,
                                  MakePrivateSums,
                                  MakeLookBackScan,
                                  MakeConvolutionTiles,
                                  MakeStencilRows,
                                  MakeSplitTensorContraction,
                                  MakeSplitTensorConvolution,
                                  MakeStencilSums,
                                  MakeWindowRowSums,
                                  MakeIntegerTensorContraction,
                                  MakeIntegerWarpGroupContraction,
                                  MakeSplitKTile,
                                  MakeSplitKTensor,
                                  MakeSplitKSplitTensor,
                                  MakeSplitKWarpGroup,
                                  MakeWarpGroupAttention};

// hints/
Factory MakeUnrollPragma, MakeLaunchBounds, MakeRestrictQualifier, MakeInlineHint;
constexpr std::array kHints{MakeUnrollPragma, MakeLaunchBounds, MakeRestrictQualifier, MakeInlineHint};

// genetic/
Factory MakeParameterStep, MakeParameterDraw, MakeParameterMix, MakeParameterRandom, MakeCrossover, MakeStatementSwap,
    MakeStatementMove, MakeStatementCopy, MakeStatementDelete, MakeOperandSwap, MakeExpressionReplace, MakeConstantPerturb;
constexpr std::array kGenetic{MakeParameterStep,   MakeParameterDraw, MakeParameterMix,      MakeParameterRandom,
                              MakeCrossover,       MakeStatementSwap, MakeStatementMove,     MakeStatementCopy,
                              MakeStatementDelete, MakeOperandSwap,   MakeExpressionReplace, MakeConstantPerturb};

namespace {

struct Listed {
  std::string_view name;
  std::string_view subject;
  std::span<Factory* const> factories;
};

constexpr Listed kFamilies[] = {
    {"memory", "where data lies and how it travels between global memory, shared memory and registers", kMemory},
    {"loops", "the order and the grouping of the iterations of one thread", kLoops},
    {"arithmetic", "which instructions compute a value, and in which precision", kArithmetic},
    {"parallelism", "how work is divided among threads, warps and blocks, and how these synchronise", kParallelism},
    {"hints", "what pragmas, attributes and qualifiers tell the compiler; the code itself stays", kHints},
    {"genetic", "operators of genetic programming that know nothing about GPUs: parameters, crossover, statements, expressions",
     kGenetic},
};

}  // namespace

double DefaultWeight(const Mutator& mutator) {
  return mutator.mostly_wrong() ? kMostlyWrongShare * mutator.weight() : mutator.weight();
}

MutatorSet::MutatorSet() {
  for (const auto& [name, subject, factories] : kFamilies) {
    MutatorFamily& family = families_.emplace_back(MutatorFamily{name, subject, {}});
    for (Factory* const make : factories) {
      mutators_.push_back(make());
      family.mutators.push_back(mutators_.back().get());
    }
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
  for (const auto& mutator : mutators_) operators.emplace_back(mutator->name(), DefaultWeight(*mutator));
  std::sort(operators.begin(), operators.end());
  return operators;
}

Promises MutatorSet::AllPromises() const {
  Promises promises;
  for (const auto& mutator : mutators_) promises[std::string(mutator->name())] = mutator->promise();
  return promises;
}

}  // namespace evo
