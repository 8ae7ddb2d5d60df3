#include "evaluator/gate/normal_draws.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>

#include "evaluator/gate/input_generator.h"

namespace evo {
namespace {

constexpr std::uint64_t kSign = 1ULL << 63;
constexpr std::size_t kPairsAtOnce = 512;

// How a double becomes a narrower number: that many digits are cut off, and the exponent is counted from another number.
struct NarrowType {
  int bits;
  int cut_digits;
  std::uint64_t exponents;  // between the two ways to count, in the place of the narrower type
  std::uint64_t least;      // doubles from here on, as bits, have a normal number, or infinity behind the largest
  std::uint64_t beyond;     // up to here
};

constexpr NarrowType TypeOf(int bits, int exponent_bits) {
  const int digits = bits - 1 - exponent_bits;
  const std::uint64_t bias = (1ULL << (exponent_bits - 1)) - 1;
  return {bits, 52 - digits, (1023 - bias) << digits, (1024 - bias) << 52, (1023 + bias + 1) << 52};
}

NarrowType TypeOf(Dtype dtype) {
  constexpr int kExponentOfFloat = 8;
  constexpr int kExponentOfHalf = 5;
  if (dtype == Dtype::kF32) return TypeOf(32, kExponentOfFloat);
  return TypeOf(16, dtype == Dtype::kF16 ? kExponentOfHalf : kExponentOfFloat);
}

[[gnu::always_inline]] inline std::uint64_t Bits(double x) { return std::bit_cast<std::uint64_t>(x); }
[[gnu::always_inline]] inline double FromBits(std::uint64_t x) { return std::bit_cast<double>(x); }

// Of x in [2^-53, 1], off by less than 2^-50 of itself.
[[gnu::always_inline]] inline double NearLog(double x) {
  // x is 2^exponent times a number from the root of 1/2 to that of 2, whose logarithm is 2 artanh(s), which a series gives.
  constexpr std::uint64_t kRootOfHalf = 0x3fe6a09e00000000ULL;
  constexpr std::uint64_t kOffset = 1024;
  const std::uint64_t raised = (Bits(x) - kRootOfHalf + (kOffset << 52)) >> 52;
  const double exponent = FromBits(raised | 0x4330000000000000ULL) - (0x1p52 + kOffset);
  const double above_one = FromBits(Bits(x) - ((raised - kOffset) << 52)) - 1;
  const double s = above_one / (2 + above_one);
  const double square = s * s;
  double series = 1.0 / 23;
  series = series * square + 1.0 / 21;
  series = series * square + 1.0 / 19;
  series = series * square + 1.0 / 17;
  series = series * square + 1.0 / 15;
  series = series * square + 1.0 / 13;
  series = series * square + 1.0 / 11;
  series = series * square + 1.0 / 9;
  series = series * square + 1.0 / 7;
  series = series * square + 1.0 / 5;
  series = series * square + 1.0 / 3;
  return exponent * std::numbers::ln2 + (2 * s + 2 * s * square * series);
}

struct Circle {
  double cosine;
  double sine;
};

// Of an angle in [0, 2 pi], each off by less than 2^-50 of itself.
[[gnu::always_inline]] inline Circle NearCircle(double angle) {
  // Pi / 2 in three parts, of which a few times the first two are exact.
  constexpr double kFirst = 0x1.921fb544p+0;
  constexpr double kSecond = 0x1.0b4611a6p-34;
  constexpr double kThird = 0x1.3198a2e037073p-69;
  constexpr double kToInteger = 0x1.8p52;
  const double shifted = angle * (2 / std::numbers::pi) + kToInteger;
  const std::uint64_t quarter = Bits(shifted);  // its last digits
  const double turns = shifted - kToInteger;
  const double x = ((angle - turns * kFirst) - turns * kSecond) - turns * kThird;
  const double square = x * x;
  double sine = 1.0 / 355687428096000;
  sine = sine * square - 1.0 / 1307674368000;
  sine = sine * square + 1.0 / 6227020800;
  sine = sine * square - 1.0 / 39916800;
  sine = sine * square + 1.0 / 362880;
  sine = sine * square - 1.0 / 5040;
  sine = sine * square + 1.0 / 120;
  sine = sine * square - 1.0 / 6;
  sine = x + x * square * sine;
  double cosine = -1.0 / 6402373705728000;
  cosine = cosine * square + 1.0 / 20922789888000;
  cosine = cosine * square - 1.0 / 87178291200;
  cosine = cosine * square + 1.0 / 479001600;
  cosine = cosine * square - 1.0 / 3628800;
  cosine = cosine * square + 1.0 / 40320;
  cosine = cosine * square - 1.0 / 720;
  cosine = cosine * square + 1.0 / 24;
  cosine = cosine * square - 1.0 / 2;
  cosine = 1 + square * cosine;
  const std::uint64_t exchanged = (Bits(sine) ^ Bits(cosine)) & (0 - (quarter & 1));
  return {FromBits(Bits(cosine) ^ exchanged ^ (((quarter + 1) & 2) << 62)),
          FromBits(Bits(sine) ^ exchanged ^ ((quarter & 2) << 62))};
}

// mean + part, rounded to the type; with kSign where another double near it might be rounded another way. `part` is off by less
// than 2^-48 of itself.
[[gnu::always_inline]] inline std::uint64_t RoundedOrSign(double mean, double part, const NarrowType& type) {
  constexpr double kMostCancelled = 64;  // so that the sum is off by less than 2^-42 of itself, 2^11 units in its last place
  constexpr std::int64_t kUnits = 1 << 12;
  const double value = mean + part;
  const std::uint64_t magnitude = Bits(value) & ~kSign;
  const std::uint64_t half = 1ULL << (type.cut_digits - 1);
  const auto from_half = static_cast<std::int64_t>(magnitude & (2 * half - 1)) - static_cast<std::int64_t>(half);
  const std::uint64_t sign = (Bits(value) >> 63) << (type.bits - 1);
  const std::uint64_t rounded = (((magnitude + half) >> type.cut_digits) - type.exponents) | sign;
  const bool in_range = (static_cast<std::int64_t>(magnitude) >= static_cast<std::int64_t>(type.least)) &
                        (static_cast<std::int64_t>(magnitude) < static_cast<std::int64_t>(type.beyond));
  const bool is_near_half = (from_half >= -kUnits) & (from_half <= kUnits);
  const bool cancels = FromBits(Bits(part) & ~kSign) > kMostCancelled * FromBits(magnitude);
  return (!in_range | is_near_half | cancels) ? rounded | kSign : rounded;
}

// Returns the bitwise sum of all.
[[gnu::always_inline]] inline std::uint64_t RoundPairs(const Normal& normal, const NarrowType& type, const double* uniforms,
                                                       std::size_t pairs, std::uint64_t* rounded) {
  const double mean = normal.mean;
  const double deviation = normal.deviation;
  const NarrowType narrow = type;
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    const double radius = std::sqrt(-2 * NearLog(1 - uniforms[2 * i]));
    const Circle circle = NearCircle(2 * std::numbers::pi * uniforms[2 * i + 1]);
    const std::uint64_t first = RoundedOrSign(mean, deviation * (radius * circle.cosine), narrow);
    const std::uint64_t second = RoundedOrSign(mean, deviation * (radius * circle.sine), narrow);
    rounded[2 * i] = first;
    rounded[2 * i + 1] = second;
    all |= first | second;
  }
  return all;
}

using Rounds = std::uint64_t (*)(const Normal&, const NarrowType&, const double*, std::size_t, std::uint64_t*);

std::uint64_t RoundPairsUsual(const Normal& normal, const NarrowType& type, const double* uniforms, std::size_t pairs,
                              std::uint64_t* rounded) {
  return RoundPairs(normal, type, uniforms, pairs, rounded);
}

#if EVO_HAS_VECTOR_TARGETS
EVO_TARGET_AVX2 std::uint64_t RoundPairsAvx2(const Normal& normal, const NarrowType& type, const double* uniforms,
                                             std::size_t pairs, std::uint64_t* rounded) {
  return RoundPairs(normal, type, uniforms, pairs, rounded);
}
EVO_TARGET_AVX512 std::uint64_t RoundPairsAvx512(const Normal& normal, const NarrowType& type, const double* uniforms,
                                                 std::size_t pairs, std::uint64_t* rounded) {
  return RoundPairs(normal, type, uniforms, pairs, rounded);
}
#endif

Rounds RoundsOf(VectorTarget target) {
#if EVO_HAS_VECTOR_TARGETS
  if (target == VectorTarget::kAvx512) return RoundPairsAvx512;
  if (target == VectorTarget::kAvx2) return RoundPairsAvx2;
#endif
  static_cast<void>(target);
  return RoundPairsUsual;
}

template <typename Stored>
void Store(std::span<const std::uint64_t> rounded, std::byte* out) {
  for (std::size_t i = 0; i < rounded.size(); ++i) {
    const auto stored = static_cast<Stored>(rounded[i]);
    std::memcpy(out + i * sizeof(Stored), &stored, sizeof(Stored));
  }
}

}  // namespace

NormalPair ToNormal(double uniform, double other) {
  const double radius = std::sqrt(-2 * std::log(1 - uniform));
  const double angle = 2 * std::numbers::pi * other;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

void DrawNormals(const Normal& normal, std::span<double> values, Rng& rng) {
  std::array<double, 2 * kPairsAtOnce> uniforms;
  while (!values.empty()) {
    const std::size_t pairs = std::min((values.size() + 1) / 2, kPairsAtOnce);
    rng.Uniforms(std::span(uniforms).first(2 * pairs));
    for (std::size_t i = 0; i < pairs; ++i) {
      const NormalPair pair = ToNormal(uniforms[2 * i], uniforms[2 * i + 1]);
      values[2 * i] = normal.mean + normal.deviation * pair.first;
      if (2 * i + 1 < values.size()) values[2 * i + 1] = normal.mean + normal.deviation * pair.second;
    }
    values = values.subspan(std::min(values.size(), 2 * pairs));
  }
}

bool HasRoundedNormals(Dtype dtype) { return dtype == Dtype::kF32 || dtype == Dtype::kF16 || dtype == Dtype::kBF16; }

void DrawRoundedNormals(const Normal& normal, Dtype dtype, std::span<std::byte> bytes, Rng& rng, VectorTarget target) {
  const NarrowType type = TypeOf(dtype);
  const Rounds round = RoundsOf(target);
  const std::size_t size = ByteSize(dtype);
  std::array<double, 2 * kPairsAtOnce> uniforms;
  std::array<std::uint64_t, 2 * kPairsAtOnce> rounded;
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size() / size, 2 * kPairsAtOnce);
    const std::size_t pairs = (count + 1) / 2;
    rng.Uniforms(std::span(uniforms).first(2 * pairs));
    const bool some_uncertain = (round(normal, type, uniforms.data(), pairs, rounded.data()) & kSign) != 0;
    const auto drawn = std::span<const std::uint64_t>(rounded).first(count);
    if (dtype == Dtype::kF32)
      Store<std::uint32_t>(drawn, bytes.data());
    else
      Store<std::uint16_t>(drawn, bytes.data());
    for (std::size_t i = 0; some_uncertain && i < count; ++i) {
      if ((rounded[i] & kSign) == 0) continue;
      const NormalPair pair = ToNormal(uniforms[i / 2 * 2], uniforms[i / 2 * 2 + 1]);
      const double value = normal.mean + normal.deviation * (i % 2 == 0 ? pair.first : pair.second);
      StoreDoubles({&value, 1}, dtype, bytes.subspan(i * size, size));
    }
    bytes = bytes.subspan(count * size);
  }
}

}  // namespace evo
