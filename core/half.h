#pragma once

#include <cstdint>

namespace evo {

// IEEE binary16 and bfloat16 as their bits. A value is rounded once, to nearest even; it overflows to infinity.
std::uint16_t ToHalfBits(double value);
float FromHalfBits(std::uint16_t bits);
std::uint16_t ToBFloat16Bits(double value);
float FromBFloat16Bits(std::uint16_t bits);

}  // namespace evo
