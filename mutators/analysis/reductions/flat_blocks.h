#pragma once

#include <functional>
#include <optional>
#include <string>

#include "mutators/mutator.h"

namespace evo {

// A source in which a kernel with blocks along x and y, each thread of which takes the element of its own place of an image, has
// blocks and a grid of one dimension: `y * width + x` is the thread's number, and `x < width && y < height` says that it is below
// the number of elements, which the kernel gets as one more parameter. Other threads take other elements than before, but all
// together the same. nullopt if there is no such kernel. The second argument gets no reasons.
std::optional<std::string> WithFlatBlocks(const MutationContext& context, const std::function<void(const std::string&)>& refuse);

}  // namespace evo
