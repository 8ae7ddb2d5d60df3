#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace evo {

// The text of a source that multiplies by `nvcuda::wmma`, with arrays in the place of fragments and loops in that of its
// functions: each lane has eight or so neighbouring elements of a row of the sum, and of the factors what these need. What is
// left in memory is the same, up to the order in which products are added. nullopt if there are no fragments, or some whose
// shapes are no numbers or that are used otherwise.
std::optional<std::string> WithoutFragments(std::string_view source);

}  // namespace evo
