#pragma once

#include <optional>
#include <set>

#include "mutators/analysis/stencils/stencil.h"

namespace evo {

// The statements of a kernel's body that only bring elements into tiles in shared memory: declarations of the tiles, what fills
// them, and barriers, behind the last of which threads only read them. nullopt if the threads work together in another way.
// `effects`: statements by which they may do so.
std::optional<std::set<int>> TileStatements(const SyntaxTree& tree, int body, const std::set<int>& effects = {});

// The array in shared memory an element of which a node is; -1 for others.
int TileAt(const SyntaxTree& tree, int node);
// Whether a node is within one of a kernel's statements that only bring elements into tiles or keep threads away.
bool IsOfTile(const SyntaxTree& tree, const Stencil& stencil, int node);
// Whether a node is, or declares what only such statements and the indices of neighbours need.
bool IsOnlyForTile(const SyntaxTree& tree, const Stencil& stencil, int node);
// Whether each element of a tile that is read is a neighbour.
bool AreTilesNeighbours(const SyntaxTree& tree, const Stencil& stencil);

}  // namespace evo
