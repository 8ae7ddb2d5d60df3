#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/evolution.h"
#include "tests/engine/fakes.h"

namespace evo::testing {

// A run of which every part is fake.
struct World {
  explicit World(RunRecord record, std::vector<Genome> templates = {GenomeAt(kStart)})
      : World(EvolutionSettings{.run = std::move(record), .seeds = std::move(templates)}) {}
  explicit World(EvolutionSettings asked)
      : settings(std::move(asked)),
        run(settings.run),
        seeds(settings.seeds),
        population(static_cast<std::size_t>(run.population)),
        evolution(settings, Parts(population, choice)) {}
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  RunStatus Run(std::optional<std::chrono::seconds> limit = {}) {
    return evolution.Run(StopCondition(run.generations, limit, interrupt.get_token()));
  }
  RunStatus Resume() { return evolution.Resume(StopCondition(run.generations, {}, interrupt.get_token())); }

  // The parts of this world with another population, choice or selection, for another evolution.
  EvolutionParts Parts(Population& other, ChildChoice& chooses, OperatorSelection* selection = nullptr) {
    return {breeder, evaluator, store, observer, other, chooses, selection};
  }

  // The same run in a new process whose store has the first `generations` of this one.
  World& Again(std::size_t generations) {
    again = std::make_unique<World>(settings);
    again->store.generations.assign(store.generations.begin(),
                                    store.generations.begin() + static_cast<std::ptrdiff_t>(generations));
    again->breeder.childless = breeder.childless;
    again->evaluator.evaluate = evaluator.evaluate;
    return *again;
  }

  const EvolutionSettings settings;
  const RunRecord& run;
  const std::vector<Genome>& seeds;
  std::stop_source interrupt;
  FakeBreeder breeder;
  FakeEvaluator evaluator;
  MemoryStore store;
  RecordingObserver observer;
  FirstChildren choice;
  ElitistPopulation population;
  Evolution evolution;
  std::unique_ptr<World> again;
};

}  // namespace evo::testing
