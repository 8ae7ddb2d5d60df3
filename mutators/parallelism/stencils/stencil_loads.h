#pragma once

#include <string>

#include "mutators/analysis/stencils/stencil.h"
#include "mutators/parallelism/stencils/stencil_layout.h"
#include "mutators/parallelism/stencils/stencil_names.h"

namespace evo {

// How the threads of a walking stencil get neighbours into their registers, and keep those that they still need.
class StencilLoads {
 public:
  // The arguments must outlive the object.
  StencilLoads(const SyntaxTree& tree, const Stencil& found, const StencilParameters& parameters, const StencilNames& names,
               const StencilLayout& layout)
      : tree_(tree), found_(found), parameters_(parameters), names_(names), layout_(layout) {}

  // The device functions that load a row or a plane. They stand before the kernel.
  std::string Functions() const;
  // The type of elements that move at once, with an empty line before it if the kernel's line before needs one.
  std::string Types() const;
  // The registers, the first loads, and the begin of the loop over steps, up to the load of a step.
  std::string Loop() const;
  // The load of a row or plane, whose coordinate may be past an edge, into the registers with the number `to`.
  std::string LineLoads() const;
  std::string Load(int buffer, const std::string& to, const std::string& coordinate) const;

 private:
  std::string RowLoads(int buffer, const std::string& own, const std::string& to) const;

  const SyntaxTree& tree_;
  const Stencil& found_;
  const StencilParameters& parameters_;
  const StencilNames& names_;
  const StencilLayout& layout_;
};

}  // namespace evo
