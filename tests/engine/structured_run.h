#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/digest.h"
#include "engine/evolution.h"
#include "tests/engine/fakes.h"
#include "tests/engine/world.h"

// A run that knows of structures, on kernels that are fast by name.
namespace evo::testing {

inline RunRecord Structured() {
  RunRecord run = FakeRun();
  run.generations = 30;
  run.operators = {{"parameter_step", 1}, {"first", 1}, {"second", 1}, {"third", 1}, {"rows", 1}, {"tile", 1}, {"never", 1}};
  return run;
}

// "rows" and "tile" restructure and apply once, "never" does not apply. A request of several operators makes one small edit or
// another by its place, or changes the parameter.
inline void Change(const BreedRequest& request, BredChild& child) {
  const auto has = [&](const std::string& op) {
    return std::any_of(child.genome->edits.begin(), child.genome->edits.end(), [&](const Edit& edit) { return edit.op == op; });
  };
  child.genome->edits = request.parents[0].edits;
  child.genome->edits.insert(child.genome->edits.end(), request.alike.begin(), request.alike.end());
  std::string op = request.operators.front().first;
  if (request.operators.size() > 1) {
    const char* const drawn[] = {"first", "second", "third", "parameter_step"};
    op = drawn[(request.index + request.generation) % 4];
  }
  if (op == "never" || (op != "parameter_step" && has(op))) {
    child.genome.reset();
    child.inapplicable = {op};
    return;
  }
  child.op = op;
  child.used_second_parent = false;
  if (op != "parameter_step") {
    child.genome->parameters["X"] = ValueOf(request.parents[0]);
    child.genome->edits.emplace_back().op = op;
  }
  child.source = SourceAt(ValueOf(*child.genome));
  for (const Edit& edit : child.genome->edits) child.source += "// " + edit.op + "\n";
}

// The same, and "tile" brings a parameter.
inline void ChangeWithTiles(const BreedRequest& request, BredChild& child) {
  Change(request, child);
  if (child.op == "tile") child.genome->edits.back().brings = {{"TILE", {8, 16, 32}, 8}};
}

inline Evaluation Evaluate(const Candidate& candidate) {
  Evaluation evaluation = EvaluationAt(ValueOf(candidate.genome));
  evaluation.source_digest = Digest(candidate.source);
  if (evaluation.outcome != Outcome::kOk) return evaluation;
  evaluation.program_digest = evaluation.source_digest;
  evaluation.bottleneck = Bottleneck::kLatency;
  for (const Edit& edit : candidate.genome.edits) evaluation.score_ns *= edit.op == "rows" ? 0.5 : edit.op == "tile" ? 1.5 : 0.9;
  return evaluation;
}

struct StructuredRun {
  explicit StructuredRun(std::vector<GenerationRecord> generations = {}, bool structured = true, int early_children = 0,
                         std::vector<Genome> seeds = {GenomeAt(101)}, bool baseline_apart = false)
      : world(EvolutionSettings{.run = Structured(),
                                .seeds = std::move(seeds),
                                .baseline_apart = baseline_apart,
                                .early_children = early_children,
                                .early_candidates = 30}),
        selection(
            world.run.operators, {},
            BottleneckKnowledge{{{Bottleneck::kLatency, {{"tile", 3}}}},
                                {},
                                structured ? std::vector<std::string>{"never", "rows", "tile"} : std::vector<std::string>()}),
        evolution(world.settings, world.Parts(world.population, world.choice, &selection)) {
    world.store.generations = std::move(generations);
    world.breeder.change = Change;
    world.evaluator.evaluate = Evaluate;
  }
  RunStatus Run() { return evolution.Run(StopCondition(world.run.generations, {}, {})); }
  RunStatus Resume() { return evolution.Resume(StopCondition(world.run.generations, {}, {})); }
  const GenerationRecord& Generation(std::size_t g) const { return world.store.generations.at(g); }

  World world;
  OperatorSelection selection;
  Evolution evolution;
};

}  // namespace evo::testing
