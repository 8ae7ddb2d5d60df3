#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "mutators/analysis/lockstep_integers.h"
#include "mutators/analysis/reduction_elements.h"
#include "mutators/analysis/shared_partials.h"

namespace evo {

// What the threads of a block know of data: which elements are in each of their partial results, in local variables and in shared
// memory. An expression that is neither an element nor combines partial results is refused.
class PartialResults {
 public:
  // The arguments outlive the object.
  PartialResults(const SyntaxTree& tree, const ReductionElements& elements, LockstepIntegers& integers, std::size_t lanes,
                 Refusal& refusal);

  Partials Evaluate(int expression, const LaneMask& mask);
  // Combined by "max", "min" or an operator.
  Partials Combined(std::string_view combine, const Partials& a, const Partials& b, const LaneMask& mask);

  void Declare(int variable, Partials values) { variables_[variable] = std::move(values); }
  // Refused if some of the lanes have no value.
  Partials OfVariable(int variable, const LaneMask& mask);
  void Assign(int variable, const Partials& values, const LaneMask& mask);

  // nullopt, and refused, for an expression that is no element of shared memory.
  std::optional<SharedPlace> PlaceOf(int expression);
  SharedPartials& shared() { return shared_; }

  void AddCombine(std::string_view combine) { combines_.insert(std::string(combine)); }
  const std::set<std::string>& combines() const { return combines_; }
  // Constants with which partial results begin, as spelled.
  const std::set<std::string>& initials() const { return initials_; }

 private:
  Partials Element(int expression, const LaneMask& mask);
  Partials Initial(int expression, const LaneMask& mask);
  Partials Conditional(int expression, const LaneMask& mask);
  Partials Shuffled(int call, const LaneMask& mask);
  bool IsInitial(int expression) const;
  Partials Refuse(const std::string& why);

  const SyntaxTree& tree_;
  const ReductionElements& elements_;
  LockstepIntegers& integers_;
  std::size_t lanes_;
  Refusal& refusal_;
  std::map<int, Partials> variables_;
  SharedPartials shared_;
  std::set<std::string> combines_, initials_;
};

}  // namespace evo
