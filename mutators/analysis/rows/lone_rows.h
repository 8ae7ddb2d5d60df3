#pragma once

#include <functional>
#include <optional>
#include <string>

#include "mutators/mutator.h"

namespace evo {

// The text of a source in which each kernel whose blocks share a row's loops (`for (i = threadIdx.x; i < n; i += blockDim.x)`)
// and combine what their threads have is one of single threads: a thread a row, in blocks of one. The statements that combine are
// left out; that they add up what all threads of a block have, each once, is found by running them on numbers (block_total.h).
// nullopt if there is none. `refuse` gets the reasons, as "kernel: reason".
std::optional<std::string> WithLoneRows(const MutationContext& context, const std::function<void(const std::string&)>& refuse);

}  // namespace evo
