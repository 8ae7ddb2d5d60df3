#pragma once

#include <vector>

#include "core/breeder.h"
#include "core/evaluator.h"
#include "core/genome.h"
#include "core/observer.h"
#include "core/promise.h"
#include "core/store.h"
#include "engine/child_choice.h"
#include "engine/operator_selection.h"
#include "engine/population.h"

namespace evo {

// What an evolution is to do.
struct EvolutionSettings {
  RunRecord run;              // its seed, generations, children and operators
  std::vector<Genome> seeds;  // the templates at their default parameters, the baseline's first
  // False: the run ends without a check of its champion.
  bool check_champion = true;
  // A champion that passed its check is cut to the edits that it needs (engine/minimisation.h), and the result is checked too.
  bool minimise_champion = false;
  // The baseline is measured but is no parent, because it was not selected to take part. It is a parent all the same if no other
  // candidate of generation 0 is ok.
  bool baseline_apart = false;
  // Children of a generation while the run is early, run.children at most; 0: as many as later.
  int early_children = 0;
  // A run is early as long as it has fewer candidates.
  int early_candidates = 48;
  // Of all operators whose edits may occur, also those that this run does not draw. An edit of another one counts as unproven.
  Promises promises;
};

// What an evolution works with. All of it outlives the evolution.
struct EvolutionParts {
  Breeder& breeder;
  Evaluator& evaluator;
  Store& store;
  Observer& observer;
  Population& population;
  ChildChoice& choice;
  OperatorSelection* selection = nullptr;  // null: operators are drawn by the run's weights
};

}  // namespace evo
