#pragma once

#include <string>
#include <vector>

#include "mutators/analysis/stencils/stencil.h"
#include "mutators/parallelism/stencils/stencil_freedom.h"
#include "mutators/parallelism/stencils/stencil_names.h"

namespace evo {

// The weights that a thread of a stencil reads once and keeps in registers.
class StencilWeights {
 public:
  // `tree`, `found` and `names` must outlive the object. Without `has_items` there are none.
  StencilWeights(const SyntaxTree& tree, const Stencil& found, const StencilNames& names, const StencilFreedom& freedom,
                 bool has_items);

  const std::vector<Stencil::Table>& kept() const { return kept_; }
  // The weights, read before the loop if any element of the grid reads them.
  std::string Loads() const;

 private:
  bool IsOfCounters(int expression, int depth) const;
  bool IsKept(const Stencil::Table& table, const StencilFreedom& freedom) const;

  const SyntaxTree& tree_;
  const Stencil& found_;
  const StencilNames& names_;
  std::vector<Stencil::Table> kept_;
};

}  // namespace evo
