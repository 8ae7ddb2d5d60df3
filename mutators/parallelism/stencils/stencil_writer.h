#pragma once

#include <string>

#include "mutators/analysis/stencils/stencil.h"
#include "mutators/parallelism/stencils/stencil_begin.h"
#include "mutators/parallelism/stencils/stencil_freedom.h"
#include "mutators/parallelism/stencils/stencil_layout.h"
#include "mutators/parallelism/stencils/stencil_loads.h"
#include "mutators/parallelism/stencils/stencil_names.h"
#include "mutators/parallelism/stencils/stencil_stages.h"
#include "mutators/parallelism/stencils/stencil_statements.h"
#include "mutators/parallelism/stencils/stencil_text.h"
#include "mutators/parallelism/stencils/stencil_weights.h"

namespace evo {

// Writes a stencil whose threads walk along the last axis with the neighbours of their elements in registers.
class StencilWriter {
 public:
  // `context` and `found` must outlive the object. Without `items`, a thread has one column. With `is_staged`, planes come
  // through shared memory; that needs items and rows.
  StencilWriter(const MutationContext& context, const Stencil& found, StencilParameters parameters, bool items, bool is_staged);
  StencilWriter(const StencilWriter&) = delete;  // its parts refer to each other
  StencilWriter& operator=(const StencilWriter&) = delete;

  // Whether a thread may compute several neighbouring elements and store them at once: each is stored for certain, and none is
  // read.
  bool has_items() const { return layout_.has_items(); }
  bool has_rows() const { return layout_.has_rows(); }
  // What stands before the kernel.
  std::string Functions() const { return layout_.is_staged() ? loads_.Types() + stages_.Functions() : loads_.Functions(); }
  // The kernel's body with its braces.
  std::string Body() const;
  std::string Grid() const { return layout_.Grid(); }
  std::string Block() const { return layout_.Block(); }
  // Registers that a thread needs for neighbours, as an expression.
  std::string Registers() const { return layout_.Registers(); }
  // Bytes of shared memory that a block of a staged stencil needs, as an expression.
  std::string SharedBytes() const { return stages_.Bytes(); }

 private:
  std::string Begin() const;
  StencilBegin Beginning() const { return {tree_, found_, parameters_, names_, layout_}; }
  std::string Stores(const std::string& indent) const;

  const SyntaxTree& tree_;
  const Stencil& found_;
  const StencilParameters parameters_;
  const StencilNames names_;
  const StencilFreedom freedom_;
  const StencilLayout layout_;
  const StencilStatements statements_;
  const StencilWeights weights_;
  const StencilText text_;
  const StencilLoads loads_;
  const StencilStages stages_;
};

}  // namespace evo
