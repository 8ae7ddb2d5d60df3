#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/mersenne_twister.h"

namespace evo {

// A seeded stream of random numbers. The same seed gives the same stream on every machine: the engine is that of
// std::mt19937_64, and the distributions are written here, because those of the standard library differ between implementations.
class Rng {
 public:
  explicit Rng(std::uint64_t seed);
  // The stream of one child. It depends on these three numbers alone.
  Rng(std::uint64_t seed, std::uint64_t generation, std::uint64_t index);

  std::uint64_t Next() { return engine_.Next(); }
  // Uniform in [0, bound). Precondition: bound > 0.
  std::uint64_t Below(std::uint64_t bound);
  // Uniform in [0, 1).
  double Uniform();
  // As many calls of Uniform().
  void Uniforms(std::span<double> values) { engine_.Uniforms(values); }
  bool Chance(double probability);
  // An index, drawn with a probability proportional to its weight. Precondition: at least one weight is positive, none is
  // negative.
  std::size_t Weighted(std::span<const double> weights);

 private:
  MersenneTwister engine_;
};

}  // namespace evo
