#pragma once

#include <optional>
#include <string>

#include "mutators/analysis/plain_source/struct_parameters.h"
#include "mutators/mutator.h"

namespace evo {

// The source with the sizes that are compiled in (evo:size) as parameters of the kernels that name them, also in its launch
// lines; nullopt if no kernel names one. Macros and constants made of sizes are written out. Sizes of arrays stay as they are.
// `declarations` gets those of these parameters.
std::optional<std::string> WithSizesAsParameters(const MutationContext& context, FieldDeclarations& declarations);

}  // namespace evo
