#pragma once

#include <string_view>

namespace evo {

// The name of the only mutator that reads the second parent.
inline constexpr std::string_view kCrossover = "crossover";

}  // namespace evo
