#pragma once

#include <string>
#include <string_view>

namespace evo {

// The type as a source spells it.
std::string ElementName(std::string_view type);
// The functions that convert an element of half or bfloat16 to a float and back; empty for other types.
std::string ConversionToFloat(std::string_view type);
std::string ConversionFromFloat(std::string_view type);

}  // namespace evo
