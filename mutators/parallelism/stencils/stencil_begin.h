#pragma once

#include <string>
#include <vector>

#include "mutators/analysis/stencils/stencil.h"
#include "mutators/parallelism/stencils/stencil_layout.h"
#include "mutators/parallelism/stencils/stencil_names.h"

namespace evo {

// The first lines of a walking stencil's kernel: where a thread is, and whether its elements move at once.
class StencilBegin {
 public:
  // The arguments must outlive the object.
  StencilBegin(const SyntaxTree& tree, const Stencil& found, const StencilParameters& parameters, const StencilNames& names,
               const StencilLayout& layout)
      : tree_(tree), found_(found), parameters_(parameters), names_(names), layout_(layout) {}

  // The coordinates at which a thread begins.
  std::string Coordinates() const;
  // Of several elements a thread: the variables that say whether all are copied at once, and stored at once.
  std::string Wholeness() const;
  // The name of the variable that says whether a thread stores its elements at once.
  std::string Stored() const { return names_.Own(ReadsMoreColumns() ? "stored" : "whole"); }

 private:
  std::vector<std::string> Within(const Stencil::Range& range) const;
  bool ReadsMoreColumns() const;
  std::string Whole() const;

  const SyntaxTree& tree_;
  const Stencil& found_;
  const StencilParameters& parameters_;
  const StencilNames& names_;
  const StencilLayout& layout_;
};

}  // namespace evo
