#pragma once

#include <functional>
#include <optional>
#include <string>

#include "mutators/mutator.h"

namespace evo {

// The source with all kernels that AsContraction does not know and that are products restated; nullopt if there are none.
std::optional<std::string> RestatedProducts(const MutationContext& context,
                                            const std::function<void(const std::string&)>& refuse);

}  // namespace evo
