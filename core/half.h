#pragma once

#include <cstdint>

namespace evo {

// IEEE binary16 and bfloat16 as their bits; rounding to nearest even, overflow to infinity.
std::uint16_t ToHalfBits(float value);
float FromHalfBits(std::uint16_t bits);
std::uint16_t ToBFloat16Bits(float value);
float FromBFloat16Bits(std::uint16_t bits);

}  // namespace evo
