#include "mutators/analysis/source/element_types.h"

namespace evo {

std::string ElementName(std::string_view type) { return type == "__half" ? "half" : std::string(type); }

std::string ConversionToFloat(std::string_view type) {
  return type == "__half" ? "__half2float" : type == "__nv_bfloat16" ? "__bfloat162float" : "";
}

std::string ConversionFromFloat(std::string_view type) {
  return type == "__half" ? "__float2half" : type == "__nv_bfloat16" ? "__float2bfloat16" : "";
}

}  // namespace evo
