#pragma once

#include <optional>
#include <string>

#include "syntax/syntax_tree.h"

namespace evo {

// The text with what the groups of cooperative_groups do written out as built-in variables, barriers and shuffles: those of a
// block (of one dimension in all launch lines), and those of a warp that `tiled_partition<32>` makes. Their variables go, if
// nothing else names them. nullopt if there are none such.
std::optional<std::string> WithoutThreadGroups(const SyntaxTree& tree);

}  // namespace evo
