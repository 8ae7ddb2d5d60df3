#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "mutators/analysis/source/affine_index.h"
#include "mutators/analysis/stencils/stencil.h"
#include "mutators/parallelism/stencils/stencil_names.h"

namespace evo {

// Which statements of a stencil's kernel stay when its threads walk: what declares coordinates, keeps threads outside of the grid
// away or only finds neighbours is left out.
class StencilStatements {
 public:
  // The arguments must outlive the object. With `has_items`, a thread stores several elements at once.
  StencilStatements(const SyntaxTree& tree, const Stencil& found, const StencilNames& names, bool has_items);

  // Declarations that are the same for all threads, and stand before the loop.
  const std::vector<int>& common() const { return common_; }
  // The others, which are done for each element.
  const std::vector<int>& in_loop() const { return in_loop_; }
  // Expressions that are stored to, and their buffers.
  const std::vector<std::pair<int, int>>& stored_at() const { return stored_at_; }

 private:
  void AddStatement(int statement);
  bool IsOfCoordinate(int statement) const;
  bool IsImplied(int condition, bool inside) const;
  std::optional<AffineForm> ExtentFrom(std::int64_t low, std::size_t axis) const;
  bool IsCommon(int statement) const;
  void DropUnused();

  const SyntaxTree& tree_;
  const Stencil& found_;
  const StencilNames& names_;
  bool has_items_;
  std::vector<int> common_, in_loop_;
  std::vector<std::pair<int, int>> stored_at_;
};

}  // namespace evo
