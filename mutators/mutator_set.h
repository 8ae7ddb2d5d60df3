#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// The part of its own weight with which a mutator whose children are mostly wrong is drawn; at 0 none of them is. The number
// follows from docs/results.md, "Edits that prove nothing".
inline constexpr double kMostlyWrongShare = 0;

// How often a mutator is drawn at the start of a run that does not name it.
double DefaultWeight(const Mutator& mutator);

// Mutators of one subject, whose files share a folder.
struct MutatorFamily {
  std::string_view name;                 // the folder: "memory"
  std::string_view subject;              // what belongs there, in one line
  std::vector<const Mutator*> mutators;  // owned by the MutatorSet
};

// One instance of every mutator.
class MutatorSet {
 public:
  MutatorSet();

  // In the order of the families.
  const std::vector<std::unique_ptr<Mutator>>& all() const { return mutators_; }
  const std::vector<MutatorFamily>& families() const { return families_; }
  // Null if no mutator has that name.
  const Mutator* Find(std::string_view name) const;
  // Names and default weights, sorted by name as a run stores them. Random draws depend on this order, and therefore not on the
  // order in which the mutators are listed.
  std::vector<std::pair<std::string, double>> DefaultOperators() const;
  // What each mutator promises.
  Promises AllPromises() const;

 private:
  std::vector<std::unique_ptr<Mutator>> mutators_;
  std::vector<MutatorFamily> families_;
};

}  // namespace evo
