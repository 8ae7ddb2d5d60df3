#pragma once

#include <optional>
#include <string>

#include "mutators/mutator.h"

namespace evo {

// The text of a kernel, and of what is put before it, after a proposal's changes. Includes are left out: they belong before the
// kernel of the source. nullopt if something outside of the kernel is changed.
std::optional<std::string> KernelWith(const SyntaxTree& tree, const std::string& name, const Proposal& proposal);

}  // namespace evo
