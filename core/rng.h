#pragma once

#include <cstdint>
#include <random>
#include <span>

namespace evo {

// A seeded stream of random numbers. The same seed gives the same stream on every machine: the engine is std::mt19937_64, and the
// distributions are written here, because those of the standard library differ between implementations.
class Rng {
 public:
  explicit Rng(std::uint64_t seed);
  // The stream of one child. It depends on these three numbers alone.
  Rng(std::uint64_t seed, std::uint64_t generation, std::uint64_t index);

  std::uint64_t Next();
  // Uniform in [0, bound). Precondition: bound > 0.
  std::uint64_t Below(std::uint64_t bound);
  // Uniform in [0, 1).
  double Uniform();
  bool Chance(double probability);
  // An index, drawn with a probability proportional to its weight. Precondition: at least one weight is positive, none is
  // negative.
  std::size_t Weighted(std::span<const double> weights);

 private:
  std::mt19937_64 engine_;
};

}  // namespace evo
