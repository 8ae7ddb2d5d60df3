#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace evo {

// Seeds of the pool of input sets: six sets to rotate among, and one number more for the timer's own draws.
inline constexpr std::size_t kPoolSeeds = 7;

using Seeds = std::vector<std::uint64_t>;

// Not from the run's seed: no kernel can have been written or bred for the inputs that follow.
Seeds UnpredictableSeeds();

}  // namespace evo
