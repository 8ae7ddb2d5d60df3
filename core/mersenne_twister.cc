#include "core/mersenne_twister.h"

#include <algorithm>
#include <bit>

#include "core/vector_target.h"

namespace evo {
namespace {

constexpr std::size_t kTwisted = 312;
constexpr std::size_t kHalfTwisted = 156;

constexpr std::uint64_t TwistOf(std::uint64_t one, std::uint64_t next) {
  constexpr std::uint64_t kUpper = 0xffffffff80000000ULL;
  constexpr std::uint64_t kMatrix = 0xb5026f5aa96619e9ULL;
  const std::uint64_t y = (one & kUpper) | (next & ~kUpper);
  return (y >> 1) ^ ((0 - (y & 1)) & kMatrix);
}

// No number of a half is made from another of the same half but its neighbour, which is read before it is written.
[[gnu::always_inline]] inline void TwistWords(std::uint64_t* words) {
  for (std::size_t i = 0; i < kHalfTwisted; ++i) words[i] = words[i + kHalfTwisted] ^ TwistOf(words[i], words[i + 1]);
  for (std::size_t i = kHalfTwisted; i + 1 < kTwisted; ++i) words[i] = words[i - kHalfTwisted] ^ TwistOf(words[i], words[i + 1]);
  words[kTwisted - 1] = words[kHalfTwisted - 1] ^ TwistOf(words[kTwisted - 1], words[0]);
}

// The upper 53 bits as a whole number. Each half is made the last digits of a double of a known exponent, and both are added:
// exact, and for instructions that every processor has, unlike the conversion of 64 bits.
double UpperBits(std::uint64_t x) {
  const auto high = std::bit_cast<double>((x >> 43) | 0x4530000000000000ULL);                   // 2^84 + 2^32 * the half
  const auto low = std::bit_cast<double>(((x >> 11) & 0xffffffffULL) | 0x4330000000000000ULL);  // 2^52 + the half
  return (high - (0x1p84 + 0x1p52)) + low;
}

#if EVO_HAS_VECTOR_TARGETS
EVO_TARGET_AVX2 void TwistWordsAvx2(std::uint64_t* words) { TwistWords(words); }
#endif

}  // namespace

MersenneTwister::MersenneTwister(std::uint64_t seed) {
  constexpr std::uint64_t kMultiplier = 6364136223846793005ULL;
  state_[0] = seed;
  for (std::size_t i = 1; i < kWords; ++i) state_[i] = kMultiplier * (state_[i - 1] ^ (state_[i - 1] >> 62)) + i;
}

void MersenneTwister::Twist() {
  static_assert(kWords == kTwisted);
  next_ = 0;
#if EVO_HAS_VECTOR_TARGETS
  if (WidestVectorTarget() != VectorTarget::kUsual) return TwistWordsAvx2(state_.data());
#endif
  TwistWords(state_.data());
}

void MersenneTwister::Uniforms(std::span<double> values) {
  while (!values.empty()) {
    if (next_ == kWords) Twist();
    const std::size_t count = std::min(values.size(), kWords - next_);
    const std::uint64_t* words = state_.data() + next_;
    for (std::size_t i = 0; i < count; ++i) values[i] = UpperBits(Tempered(words[i])) * 0x1p-53;
    next_ += count;
    values = values.subspan(count);
  }
}

}  // namespace evo
