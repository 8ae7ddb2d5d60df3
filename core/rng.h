#pragma once

#include <cstdint>
#include <random>
#include <span>

namespace evo {

// A seeded stream of random numbers. Same seeds, same stream, on every machine: the engine is std::mt19937_64 and the draws are
// our own, because the standard's distributions differ between libraries.
class Rng {
 public:
  explicit Rng(std::uint64_t seed);
  // The stream of one child: a function of these three numbers and nothing else.
  Rng(std::uint64_t seed, std::uint64_t generation, std::uint64_t index);

  std::uint64_t Next();
  // Uniform in [0, bound). Precondition: bound > 0.
  std::uint64_t Below(std::uint64_t bound);
  // Uniform in [0, 1).
  double Uniform();
  bool Chance(double probability);
  // Index drawn in proportion to the weights. Precondition: at least one is positive, none is negative.
  std::size_t Weighted(std::span<const double> weights);

 private:
  std::mt19937_64 engine_;
};

}  // namespace evo
