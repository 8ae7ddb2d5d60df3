#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/landscape.h"

namespace evo {

// How a landscape is searched.
struct LandscapeSearchOptions {
  int evaluations = 200;
  bool random = false;  // draws all points at random
  std::string population_kind = "elitist";
  bool surrogate = true;
  int population = 16;
  int children = 16;       // evaluations that count as one generation, for populations that act once a generation
  int early_children = 0;  // of a search as a run: EvolutionSettings::early_children
  std::uint64_t seed = 1;
  // Ends the search at the landscape's optimum: later points change no result.
  bool stop_at_optimum = true;
};

// The points in the order in which the search evaluated them, none twice. All points if `evaluations` allows as many.
// Deterministic.
std::vector<std::size_t> SearchLandscape(const Landscape& landscape, const LandscapeSearchOptions& options);

// The smallest score among the first `evaluations` points; infinity if all failed.
double BestOf(const Landscape& landscape, const std::vector<std::size_t>& order, std::size_t evaluations);

}  // namespace evo
