#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// Every mutator, in an order that never changes between runs: draws depend on it.
class MutatorSet {
 public:
  MutatorSet();

  const std::vector<std::unique_ptr<Mutator>>& all() const { return mutators_; }
  // Null if there is none of that name.
  const Mutator* Find(std::string_view name) const;
  // Names and default weights, as a BreedRequest takes them.
  std::vector<std::pair<std::string, double>> DefaultOperators() const;

 private:
  std::vector<std::unique_ptr<Mutator>> mutators_;
};

}  // namespace evo
