#include "core/half.h"

#include <bit>
#include <cmath>

namespace evo {
namespace {

// The float next to `value` whose last bit is one where the conversion is not exact ("round to odd"): from it, rounding to a
// narrower type gives what rounding `value` itself would give.
float ToOddFloat(double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || std::isnan(value)) return nearest;
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(value)) --bits;  // towards zero; also from infinity
  return std::bit_cast<float>(bits | 1);
}

}  // namespace

// g++'s own 16-bit type has the same IEEE format, and converting to it rounds once.
std::uint16_t ToHalfBits(double value) { return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value)); }
float FromHalfBits(std::uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }

std::uint16_t ToBFloat16Bits(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(ToOddFloat(value));
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40);  // keep it a NaN when the payload is cut off
  const std::uint32_t round = 0x7fff + ((bits >> 16) & 1);
  return static_cast<std::uint16_t>((bits + round) >> 16);
}

float FromBFloat16Bits(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

}  // namespace evo
