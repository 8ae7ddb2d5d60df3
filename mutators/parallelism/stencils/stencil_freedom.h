#pragma once

#include "mutators/analysis/stencils/stencil.h"
#include "mutators/parallelism/stencils/stencil_statements.h"

namespace evo {

// What the text of a stencil's kernel allows: to store later, and to compute where no element is.
class StencilFreedom {
 public:
  // How deep variables are followed to their initialisers.
  static constexpr int kDepth = 8;

  // The arguments must outlive the object.
  StencilFreedom(const SyntaxTree& tree, const Stencil& found) : tree_(tree), found_(found) {}

  // Whether an expression is the same for all data: it names sizes, coordinates and what follows from them.
  bool IsOfPlace(int expression, int depth = kDepth) const;
  // Whether what a thread stores may be collected and stored at the end: all stores are assignments that every thread makes,
  // whatever it read, and no thread reads what it has stored.
  bool CanStoreLater() const;
  // Whether what a thread does may only be done where an element is: it reads, apart from neighbours, what its place decides, it
  // divides integers, changes more than elements, or has loops that might not end.
  bool IsOfElementsOnly(const StencilStatements& kept) const;

 private:
  bool IsInLoop(int node) const;
  bool MayReadBack(int buffer) const;
  bool NeverBefore(int store, int read) const;

  const SyntaxTree& tree_;
  const Stencil& found_;
};

}  // namespace evo
