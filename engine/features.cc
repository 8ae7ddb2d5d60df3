#include "engine/features.h"

#include <algorithm>
#include <bit>

namespace evo {

int TimesDivisibleByTwo(std::int64_t value) { return value == 0 ? 0 : std::countr_zero(static_cast<std::uint64_t>(value)); }

bool DivisibilityTells(std::span<const std::int64_t> values) {
  int least = 64, most = -1;
  bool powers = true;
  for (const std::int64_t value : values) {
    if (value == 0) continue;
    least = std::min(least, TimesDivisibleByTwo(value));
    most = std::max(most, TimesDivisibleByTwo(value));
    powers = powers && value > 0 && std::has_single_bit(static_cast<std::uint64_t>(value));
  }
  return !powers && most > least;
}

}  // namespace evo
