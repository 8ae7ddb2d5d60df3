#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// Every mutator there is, in a fixed order.
const std::vector<std::unique_ptr<const Mutator>>& AllMutators();

// nullptr if there is none of that name.
const Mutator* FindMutator(std::string_view name);

// Names and weights, for a run's record.
std::vector<std::pair<std::string, double>> DefaultOperatorWeights();

}  // namespace evo
