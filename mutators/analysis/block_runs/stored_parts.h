#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "mutators/analysis/block_runs/partial_results.h"

namespace evo {

// Finds the parts of a stored value that are partial results: of `sum / n`, that is `sum`.
class StoredParts {
 public:
  using Parts = std::vector<std::pair<int, Partials>>;

  // The arguments outlive the object.
  StoredParts(const SyntaxTree& tree, const ReductionElements& elements, PartialResults& data, Refusal& refusal)
      : tree_(tree), elements_(elements), data_(data), refusal_(refusal) {}

  // Adds the parts, and the DeclStmts of variables that are computed from them. False, or refused, if there are some that are not
  // understood.
  bool Find(int expression, const LaneMask& mask, Parts& parts, std::set<int>& declarations);
  // Notes that a variable is computed of parts, so that Find() follows it. False if it is not, or changes.
  bool Compute(int variable, int value, const LaneMask& mask);

 private:
  bool IsPart(int node) const;
  int Within(int value) const;

  const SyntaxTree& tree_;
  const ReductionElements& elements_;
  PartialResults& data_;
  Refusal& refusal_;
  std::map<int, std::pair<Parts, std::set<int>>> computed_;  // by variable
};

}  // namespace evo
