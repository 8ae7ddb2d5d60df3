#pragma once

#include <set>

#include "mutators/analysis/products/contraction.h"

namespace evo {

// Tells on which of a contraction's variables an expression depends: the output's indices, the counter of the sum, the sum.
class ContractionVariables {
 public:
  // The arguments must outlive the object. `found`: has its grid, its counter and its sum.
  ContractionVariables(const SyntaxTree& tree, const Contraction& found) : tree_(tree), found_(found) {}

  // Those on which the expression depends, through other variables, too.
  std::set<int> In(int expression) const;
  // The two indices and the counter.
  std::set<int> Indices() const;

 private:
  bool IsOne(int declaration) const;
  void Add(int expression, std::set<int>& found, std::set<int>& seen) const;

  const SyntaxTree& tree_;
  const Contraction& found_;
};

}  // namespace evo
