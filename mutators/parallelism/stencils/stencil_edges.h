#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/stencils/stencil.h"
#include "mutators/parallelism/stencils/stencil_names.h"
#include "mutators/parallelism/stencils/stencil_statements.h"

namespace evo {

// The condition by which a stencil's elements are at an edge, as conditions of which one must hold: those on the coordinates of a
// thread's elements, which stay the same while it walks, and those on the axis along which it walks.
struct StencilEdges {
  std::vector<std::string> of_thread, of_walk;
};

// Takes a condition apart.
class StencilEdgeFinder {
 public:
  // The arguments must outlive the object.
  StencilEdgeFinder(const SyntaxTree& tree, const Stencil& found, const StencilNames& names, const StencilStatements& statements)
      : tree_(tree), found_(found), names_(names), statements_(statements) {}

  // Of the elements for which the condition holds or, with `negated`, does not hold. nullopt if it cannot be taken apart.
  std::optional<StencilEdges> Find(int condition, bool negated);

 private:
  bool Add(int condition, bool negated, int depth);
  bool AddPart(int condition, bool negated);
  // What the names of an expression stand for.
  bool Replace(int expression, Replacements& replaced, std::vector<std::size_t>& axes, int depth) const;

  const SyntaxTree& tree_;
  const Stencil& found_;
  const StencilNames& names_;
  const StencilStatements& statements_;
  StencilEdges edges_;
};

}  // namespace evo
