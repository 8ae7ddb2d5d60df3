#include "core/half.h"

#include <bit>
#include <cmath>

namespace evo {

// The compiler's _Float16 has the same IEEE format and does the rounding.
std::uint16_t ToHalfBits(float value) { return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value)); }
float FromHalfBits(std::uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }

std::uint16_t ToBFloat16Bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value))
    return static_cast<std::uint16_t>((bits >> 16) | 0x40);  // stays a NaN even if the remaining payload is zero
  const std::uint32_t round = 0x7fff + ((bits >> 16) & 1);
  return static_cast<std::uint16_t>((bits + round) >> 16);
}

float FromBFloat16Bits(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

}  // namespace evo
