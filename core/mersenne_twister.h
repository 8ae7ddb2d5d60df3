#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace evo {

// The engine std::mt19937_64 (Matsumoto and Nishimura, 64-bit version of 2004): the same numbers for the same seed. It makes 312
// numbers at a time by vector instructions.
class MersenneTwister {
 public:
  explicit MersenneTwister(std::uint64_t seed);

  static double ToUniform(std::uint64_t number) { return static_cast<double>(number >> 11) * 0x1p-53; }

  std::uint64_t Next() {
    if (next_ == kWords) Twist();
    return Tempered(state_[next_++]);
  }
  // As many calls of Next(), of each the upper 53 bits as a number in [0, 1).
  void Uniforms(std::span<double> values);

 private:
  static constexpr std::size_t kWords = 312;

  static std::uint64_t Tempered(std::uint64_t x) {
    x ^= (x >> 29) & 0x5555555555555555ULL;
    x ^= (x << 17) & 0x71d67fffeda60000ULL;
    x ^= (x << 37) & 0xfff7eee000000000ULL;
    return x ^ (x >> 43);
  }
  void Twist();

  std::array<std::uint64_t, kWords> state_;
  std::size_t next_ = kWords;
};

}  // namespace evo
