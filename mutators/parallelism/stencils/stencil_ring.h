#pragma once

#include <string>

#include "mutators/analysis/stencils/stencil.h"
#include "mutators/parallelism/stencils/stencil_layout.h"
#include "mutators/parallelism/stencils/stencil_names.h"

namespace evo {

// How planes of one buffer come into a ring in shared memory, where the loop over planes is written out by the ring's length, so
// that all places in shared memory are constants. A thread keeps the addresses from which it copies and moves them on from plane
// to plane.
class StencilRing {
 public:
  // The arguments must outlive the object.
  StencilRing(const SyntaxTree& tree, const Stencil& found, const StencilParameters& parameters, const StencilNames& names,
              const StencilLayout& layout);

  // The ring.
  std::string Begin() const;
  // Where the thread copies from, and the function that starts to copy the next plane: `stage(plane, slot)`.
  std::string Stage() const;
  // How many elements beside a block's own columns a thread copies at most.
  std::string Sides() const;

 private:
  std::string Sources() const;
  std::string Row(const std::string& row) const;
  std::string Copies() const;

  const SyntaxTree& tree_;
  const Stencil& found_;
  const StencilParameters& parameters_;
  const StencilNames& names_;
  const StencilLayout& layout_;
  int buffer_;
  std::string type_;
  std::int64_t beside_;  // columns
};

}  // namespace evo
