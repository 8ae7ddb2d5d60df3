#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace evo {

// Bytes of local memory a thread that one of our kernels overwrites: all of them, and no more. A candidate gets the smallest that
// is no less than its own.
inline constexpr std::array<std::uint32_t, 6> kLocalScrubBytes = {64, 256, 1024, 4096, 16384, 65536};

// The kernels of SupportKernels, and their names in the order of its enumeration; those that scrub local memory come last.
std::string SupportKernelSource();
std::vector<std::string> SupportKernelNames();

}  // namespace evo
