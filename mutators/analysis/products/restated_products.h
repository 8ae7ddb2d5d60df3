#pragma once

#include <functional>
#include <optional>
#include <string>

#include "mutators/mutator.h"

namespace evo {

// The source with a kernel that AsContraction does not know and that is a product restated; nullopt if there is none. Sums are
// added up in the same order.
std::optional<std::string> RestatedProducts(const MutationContext& context,
                                            const std::function<void(const std::string&)>& refuse);
// The same, where the order of sums may be another.
std::optional<std::string> ReassociatedProducts(const MutationContext& context,
                                                const std::function<void(const std::string&)>& refuse);

}  // namespace evo
