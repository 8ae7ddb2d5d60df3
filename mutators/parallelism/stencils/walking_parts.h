#pragma once

#include <utility>

#include "mutators/analysis/stencils/stencil.h"
#include "mutators/parallelism/stencils/stencil_freedom.h"
#include "mutators/parallelism/stencils/stencil_layout.h"
#include "mutators/parallelism/stencils/stencil_names.h"
#include "mutators/parallelism/stencils/stencil_statements.h"
#include "mutators/parallelism/stencils/stencil_weights.h"

namespace evo {

// What is known of a stencil before the text of one whose threads walk is written.
struct WalkingParts {
  // `source` and `stencil` must outlive the object. Without `items`, a thread has one column. With `is_staged`, planes come
  // through shared memory.
  WalkingParts(const SyntaxTree& source, const Stencil& stencil, StencilParameters own, bool items, bool is_staged)
      : tree(source),
        found(stencil),
        parameters(std::move(own)),
        names(tree, found),
        freedom(tree, found),
        layout(found, names, parameters, items && freedom.CanStoreLater(), is_staged),
        statements(tree, found, names, layout.has_items()),
        weights(tree, found, names, freedom, layout.has_items()) {}
  WalkingParts(const WalkingParts&) = delete;  // they refer to each other
  WalkingParts& operator=(const WalkingParts&) = delete;

  const SyntaxTree& tree;
  const Stencil& found;
  const StencilParameters parameters;
  const StencilNames names;
  const StencilFreedom freedom;
  const StencilLayout layout;
  const StencilStatements statements;
  const StencilWeights weights;
};

}  // namespace evo
