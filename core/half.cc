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

// g++'s own 16-bit type has the same IEEE format, and converting to it rounds once. That is a call of its library, which takes
// several times as long as the steps for a number that is normal as a half, or an infinity just behind the largest.
std::uint16_t ToHalfBits(double value) {
  constexpr std::uint64_t kLeast = std::uint64_t{1023 - 14} << 52;
  constexpr std::uint64_t kBeyond = std::uint64_t{1023 + 16} << 52;
  constexpr int kCutDigits = 52 - 10;
  constexpr std::uint64_t kExponents = std::uint64_t{1023 - 15} << 10;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
  if (magnitude < kLeast || magnitude >= kBeyond) return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
  const std::uint64_t below_half = (std::uint64_t{1} << (kCutDigits - 1)) - 1;
  const std::uint64_t rounded = (magnitude + below_half + ((magnitude >> kCutDigits) & 1)) >> kCutDigits;
  return static_cast<std::uint16_t>((rounded - kExponents) | ((bits >> 63) << 15));
}
float FromHalfBits(std::uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }

std::uint16_t ToBFloat16Bits(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(ToOddFloat(value));
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40);  // keep it a NaN when the payload is cut off
  const std::uint32_t round = 0x7fff + ((bits >> 16) & 1);
  return static_cast<std::uint16_t>((bits + round) >> 16);
}

float FromBFloat16Bits(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

}  // namespace evo
