#include "evaluator/scheduling/seeds.h"

#include <random>

namespace evo {

Seeds UnpredictableSeeds() {
  std::random_device entropy;
  Seeds seeds;
  for (std::size_t i = 0; i < kPoolSeeds; ++i) seeds.push_back((static_cast<std::uint64_t>(entropy()) << 32) | entropy());
  return seeds;
}

}  // namespace evo
