#include "core/rng.h"

#include <cassert>
#include <numeric>

namespace evo {
namespace {

// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), which spreads neighbouring seeds over the whole range.
std::uint64_t Mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

Rng::Rng(std::uint64_t seed) : engine_(Mix(seed)) {}

Rng::Rng(std::uint64_t seed, std::uint64_t generation, std::uint64_t index) : engine_(Mix(Mix(Mix(seed) ^ generation) ^ index)) {}

std::uint64_t Rng::Below(std::uint64_t bound) {
  assert(bound > 0);
  // Numbers below 2^64 mod bound are rejected, so that all values are equally likely.
  const std::uint64_t threshold = (0 - bound) % bound;
  std::uint64_t draw = Next();
  while (draw < threshold) draw = Next();
  return draw % bound;
}

double Rng::Uniform() { return MersenneTwister::ToUniform(Next()); }

bool Rng::Chance(double probability) { return Uniform() < probability; }

std::size_t Rng::Weighted(std::span<const double> weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  assert(total > 0);
  double left = Uniform() * total;
  std::size_t last_positive = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    if (left < weights[i]) return i;
    left -= weights[i];
    last_positive = i;
  }
  return last_positive;  // only reached by rounding errors in the subtractions
}

}  // namespace evo
