#include "mutators/mutator_set.h"

#include "mutators/accumulator_split.h"
#include "mutators/crossover.h"
#include "mutators/fast_math.h"
#include "mutators/hoist_invariant.h"
#include "mutators/launch_bounds.h"
#include "mutators/parameter_mutators.h"
#include "mutators/read_only_load.h"
#include "mutators/restrict_qualifier.h"
#include "mutators/statement_delete.h"
#include "mutators/statement_swap.h"
#include "mutators/unroll_pragma.h"

namespace evo {
namespace {

template <typename... Kinds>
std::vector<std::unique_ptr<const Mutator>> MakeAll() {
  std::vector<std::unique_ptr<const Mutator>> all;
  (all.push_back(std::make_unique<Kinds>()), ...);
  return all;
}

}  // namespace

const std::vector<std::unique_ptr<const Mutator>>& AllMutators() {
  static const auto all = MakeAll<ParameterStep, ParameterDraw, ParameterMix, Crossover, UnrollPragma, LaunchBounds, FastMath, ReadOnlyLoad,
                                  RestrictQualifier, AccumulatorSplit, StatementSwap, StatementDelete, HoistInvariant>();
  return all;
}

const Mutator* FindMutator(std::string_view name) {
  for (const auto& mutator : AllMutators()) {
    if (mutator->name() == name) return mutator.get();
  }
  return nullptr;
}

std::vector<std::pair<std::string, double>> DefaultOperatorWeights() {
  std::vector<std::pair<std::string, double>> weights;
  for (const auto& mutator : AllMutators()) weights.emplace_back(mutator->name(), mutator->weight());
  return weights;
}

}  // namespace evo
