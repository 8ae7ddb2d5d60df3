#pragma once

#include <cstdint>

namespace evo {

// Conversions between float and the bits of IEEE binary16 and bfloat16. They round to nearest even; overflow gives infinity.
std::uint16_t ToHalfBits(float value);
float FromHalfBits(std::uint16_t bits);
std::uint16_t ToBFloat16Bits(float value);
float FromBFloat16Bits(std::uint16_t bits);

}  // namespace evo
