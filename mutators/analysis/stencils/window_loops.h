#pragma once

#include <functional>
#include <optional>
#include <string>

#include "mutators/mutator.h"

namespace evo {

// The source with loops over neighbours within an image, `for (int i = max(0, y - 2); i <= min(h - 1, y + 2); ++i)`, as loops
// over how far away these are, of a fixed number of turns: a condition asks for the image. The distance is a constant, or a
// parameter for which the launch line passes a number. nullopt if there are none. As Restate of plain_source.h.
std::optional<std::string> WithFixedWindows(const MutationContext& context,
                                            const std::function<void(const std::string&)>& refuse);

}  // namespace evo
