#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/stencils/stencil.h"
#include "mutators/parallelism/stencils/stencil_layout.h"
#include "mutators/parallelism/stencils/stencil_names.h"
#include "mutators/parallelism/stencils/stencil_selection.h"
#include "mutators/parallelism/stencils/stencil_statements.h"
#include "mutators/parallelism/stencils/stencil_weights.h"

namespace evo {

// The text of a stencil's own statements, with neighbours and weights from registers.
class StencilText {
 public:
  // The arguments must outlive the object. With a selection, elements at edges are computed as the others are.
  StencilText(const SyntaxTree& tree, const Stencil& found, const StencilNames& names, const StencilLayout& layout,
              const StencilStatements& statements, const StencilWeights& weights, std::optional<StencilSelection> selection)
      : tree_(tree),
        found_(found),
        names_(names),
        layout_(layout),
        statements_(statements),
        weights_(weights),
        selection_(selection) {}

  // The text with each line but directives one unit to the right.
  static std::string Indented(const std::string& text);
  // The text with comments indented by the file's unit, as other lines are when the edit is made.
  static std::string Finished(const SyntaxTree& tree, const std::string& text);
  // Some of the statements, with their comments.
  std::string Lines(const std::vector<int>& statements, const std::string& indent) const;

 private:
  std::string Place(const Stencil::Site& site) const;
  Replacements Replaced() const;
  // The last store with the selection, and what declares its value.
  std::string Selected(const Replacements& replaced, const std::string& indent) const;

  const SyntaxTree& tree_;
  const Stencil& found_;
  const StencilNames& names_;
  const StencilLayout& layout_;
  const StencilStatements& statements_;
  const StencilWeights& weights_;
  const std::optional<StencilSelection> selection_;
};

}  // namespace evo
