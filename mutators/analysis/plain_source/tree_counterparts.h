#pragma once

#include <set>
#include <string>

#include "syntax/syntax_tree.h"

namespace evo {

// Finds in a source what a node of the same source, written out, was there.
class Counterparts {
 public:
  // The arguments outlive the object. `names`: of the source's declarations.
  Counterparts(const SyntaxTree& source, const SyntaxTree& plain, const std::set<std::string>& names)
      : source_(source), plain_(plain), names_(names) {}

  // The same declaration of the file, the same parameter of a function, its `__global__` or its `__launch_bounds__`; -1 for other
  // nodes.
  int Of(int node) const;

 private:
  int InGroup(int node) const;

  const SyntaxTree& source_;
  const SyntaxTree& plain_;
  const std::set<std::string>& names_;
};

}  // namespace evo
