#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mutators/analysis/stencils/stencil_by_results.h"

namespace evo {
namespace {

// Turns of the loops of threads that work together: until it is known that the kernel may be a stencil, and afterwards.
constexpr std::int64_t kFewFormulaTurns = 300'000, kMostFormulaTurns = 4'000'000;
// Of threads that run alone, in one launch: a convolution of several channels has more.
constexpr std::int64_t kMostLoneFormulaTurns = 1'000'000;

void AddElements(const ThreadFormula& formula, std::set<const ThreadFormula*>& seen,
                 std::set<std::pair<int, std::int64_t>>& elements) {
  if (!seen.insert(&formula).second) return;
  if (formula.kind == ThreadFormula::Kind::kElement) elements.emplace(formula.memory, formula.index);
  for (const FormulaPointer& part : formula.parts) AddElements(*part, seen, elements);
}

// A variable or an array of which a formula has a number that nobody has stored; -1 if there is none.
int UnsetIn(const ThreadFormula& formula, std::set<const ThreadFormula*>& seen) {
  if (formula.unset) return formula.memory;
  if (!seen.insert(&formula).second) return -1;
  int unset = -1;
  for (const FormulaPointer& part : formula.parts) unset = std::max(unset, UnsetIn(*part, seen));
  return unset;
}

}  // namespace

std::set<std::pair<int, std::int64_t>> ElementsIn(const ThreadFormula& formula) {
  std::set<const ThreadFormula*> seen;
  std::set<std::pair<int, std::int64_t>> elements;
  AddElements(formula, seen, elements);
  return elements;
}

FormulaRuns::FormulaRuns(const MutationContext& context, int kernel, const LaunchDirective& launch)
    : tree_(context.tree), runs_(context, launch, kernel, -1, {}) {
  runs_.given().formulas = true;
  runs_.AllowTurns(kFewFormulaTurns);
}

bool FormulaRuns::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

void FormulaRuns::AllowAll() { runs_.AllowTurns(kMostFormulaTurns); }

bool FormulaRuns::RunThread(const LaunchRuns::Setting& setting, std::int64_t thread, StoredFormulas& stored) {
  ThreadTrace trace = runs_.Run(setting, thread);
  if (!trace.refusal.empty()) return Refuse(trace.refusal);
  lone_turns_ += trace.turns;
  if (!runs_.together() && lone_turns_ > kMostLoneFormulaTurns) return Refuse("its threads take too many turns to be run");
  if (trace.race >= 0)
    return Refuse(fmt::format("a thread stores in {} what another reads or stores, and no barrier is between them",
                              tree_.node(trace.race).name));
  largest_number_ = std::max(largest_number_, trace.largest_number);
  for (auto& [buffer, elements] : trace.stores) {
    for (auto& [index, access] : elements) {
      if (!access.formula) return Refuse(fmt::format("what it stores to {} is not understood", tree_.node(buffer).name));
      std::set<const ThreadFormula*> seen;
      if (const int unset = UnsetIn(*access.formula, seen); unset >= 0)
        return Refuse(fmt::format("an element of {} is read and has no value", tree_.node(unset).name));
      if (!stored[buffer].emplace(index, std::move(access.formula)).second)
        return Refuse(fmt::format("two threads store the same element of {}", tree_.node(buffer).name));
    }
  }
  return true;
}

bool FormulaRuns::Run(const LaunchRuns::Setting& setting, StoredFormulas& stored, std::int64_t most) {
  lone_turns_ = 0;
  const std::int64_t each = runs_.together() ? setting.block[0] * setting.block[1] * setting.block[2] : 1;
  const std::int64_t units = setting.Threads() / each, count = most == 0 ? units : std::min(units, most);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t unit = count == units ? i : i * (units - 1) / (count - 1);
    for (std::int64_t thread = unit * each; thread < (unit + 1) * each; ++thread) {
      if (!RunThread(setting, thread, stored)) return false;
    }
  }
  return true;
}

}  // namespace evo
