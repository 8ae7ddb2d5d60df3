#pragma once

#include <cstdint>

namespace evo {

// Random numbers that stand for the elements of buffers where kernels are run on numbers.

// Of 64 bits, for sums modulo 2^64: sets of elements that differ, or have an element twice, have different sums.
std::uint64_t FingerprintOf(std::int64_t element);
// From -1 to 1, for real arithmetic: the element of a buffer.
double RandomElement(int buffer, std::int64_t index);

}  // namespace evo
