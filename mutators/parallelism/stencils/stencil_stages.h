#pragma once

#include <string>

#include "mutators/analysis/stencils/stencil.h"
#include "mutators/parallelism/stencils/stencil_layout.h"
#include "mutators/parallelism/stencils/stencil_names.h"

namespace evo {

// How the planes that a block of a walking stencil needs come into a ring in shared memory, and from there into the registers of
// its threads. Each element comes once for a block, and those under way need no registers.
class StencilStages {
 public:
  // The arguments must outlive the object.
  StencilStages(const SyntaxTree& tree, const Stencil& found, const StencilParameters& parameters, const StencilNames& names,
                const StencilLayout& layout)
      : tree_(tree), found_(found), parameters_(parameters), names_(names), layout_(layout) {}

  // The device functions that copy a plane and load from the copy. They stand before the kernel.
  std::string Functions() const;
  // Of these, the one that copies a few elements, and the one that loads from a plane of elements of a type.
  std::string CopyFunction() const;
  std::string LoadFunction(const std::string& type) const;
  // The begin of the kernel: the ring.
  std::string Begin() const;
  // The registers, the first copies, and the begin of the loop over steps, up to the load of a step.
  std::string Loop() const;
  // Bytes of shared memory that a block needs, as an expression.
  std::string Bytes() const;

 private:
  std::string Copying(const std::string& type) const;
  std::string Advance() const;

  const SyntaxTree& tree_;
  const Stencil& found_;
  const StencilParameters& parameters_;
  const StencilNames& names_;
  const StencilLayout& layout_;
};

}  // namespace evo
