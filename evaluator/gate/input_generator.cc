#include "evaluator/gate/input_generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <numeric>

#include "core/error.h"
#include "core/half.h"
#include "core/parallel_ranges.h"
#include "core/rng.h"
#include "evaluator/gate/normal_draws.h"
#include "kernel_templates/generator.h"

namespace evo {
namespace {

using DrawKind = Generator::Kind;

// Normal numbers one by one. Those of a pair are used one after the other.
class NormalDraws {
 public:
  explicit NormalDraws(Rng& rng) : rng_(rng) {}
  double Next() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const double uniform = rng_.Uniform();
    const NormalPair pair = ToNormal(uniform, rng_.Uniform());
    spare_ = pair.second;
    has_spare_ = true;
    return pair.first;
  }

 private:
  Rng& rng_;
  double spare_ = 0;
  bool has_spare_ = false;
};

template <typename Bytes>
auto PartOf(Bytes& bytes, Dtype dtype, const Range& range) {
  return std::span(bytes).subspan(range.begin * ByteSize(dtype), (range.end - range.begin) * ByteSize(dtype));
}

Error OutOfBounds(const Generator& generator, std::int64_t bound) {
  return Error(fmt::format("generator '{}': the bound is {}", generator.text, bound));
}

template <typename Stored, typename Convert>
void StoreAs(std::span<std::byte> out, std::span<const double> values, Convert convert) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Stored stored = convert(values[i]);
    std::memcpy(out.data() + i * sizeof(Stored), &stored, sizeof(Stored));
  }
}

template <typename Stored, typename Convert>
void Load(std::span<double> out, std::span<const std::byte> bytes, Convert convert) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    out[i] = convert(stored);
  }
}

template <typename Integer>
void StoreIntegers(std::span<std::byte> out, std::span<const double> values) {
  // The largest 64-bit integer, as a double, is one too large; it is refused.
  constexpr auto kLargest = static_cast<double>(std::numeric_limits<Integer>::max());
  constexpr bool kExact = sizeof(Integer) < sizeof(std::int64_t);
  for (const double v : values) {
    if (!(v >= static_cast<double>(std::numeric_limits<Integer>::lowest()) && (v < kLargest || (kExact && v == kLargest)))) {
      throw Error(fmt::format("the value {} does not fit", v));
    }
  }
  StoreAs<Integer>(out, values, [](double v) { return static_cast<Integer>(v); });
}

template <typename Integer>
void LoadIntegers(std::span<double> out, std::span<const std::byte> bytes) {
  Load<Integer>(out, bytes, [](Integer v) { return static_cast<double>(v); });
}

// Whether an element does not depend on its place or on the others.
bool DrawsEachAlone(DrawKind kind) {
  return kind != DrawKind::kOneHot && kind != DrawKind::kPermutation && kind != DrawKind::kOffsets;
}

// Draws elements that do not depend on each other from one stream of random numbers.
class ElementDraws {
 public:
  ElementDraws(const Generator& generator, const Variables& variables, Rng& rng)
      : generator_(generator), rng_(rng), normal_(rng) {
    if (generator.kind != DrawKind::kIndex) return;
    bound_ = generator.bound.EvaluateInteger(variables);
    if (bound_ <= 0) throw OutOfBounds(generator, bound_);
  }

  // The next elements: an even number, but for the last ones.
  void Next(std::span<double> values) {
    const double a = generator_.a;
    const double b = generator_.b;
    switch (generator_.kind) {
      case DrawKind::kNormal:
        DrawNormals({a, b}, values, rng_);
        break;
      case DrawKind::kUniform:
        rng_.Uniforms(values);
        for (double& v : values) v = a + (b - a) * v;
        break;
      case DrawKind::kConstant:
        for (double& v : values) v = a;
        break;
      case DrawKind::kSparse:
        for (double& v : values) v = rng_.Chance(a) ? normal_.Next() : 0;
        break;
      case DrawKind::kLogUniform:
        for (double& v : values) {
          const double exponent = std::log(a) + (std::log(b) - std::log(a)) * rng_.Uniform();
          v = rng_.Chance(0.5) ? std::exp(exponent) : -std::exp(exponent);
        }
        break;
      case DrawKind::kCauchy:
        for (double& v : values) v = a * std::tan(std::numbers::pi * (rng_.Uniform() - 0.5));
        break;
      default:
        for (double& v : values) v = static_cast<double>(rng_.Below(static_cast<std::uint64_t>(bound_)));
    }
  }

 private:
  const Generator& generator_;
  Rng& rng_;
  NormalDraws normal_;
  std::int64_t bound_ = 0;  // of an index
};

// Calls `place` with the place of the one in each row.
template <typename Place>
void DrawOnes(std::size_t count, std::size_t row, Rng& rng, Place place) {
  for (std::size_t begin = 0; begin < count; begin += row) place(begin + rng.Below(std::min(row, count - begin)));
}

// Fills an argument whose elements depend on each other.
void Fill(const Generator& generator, std::span<double> values, std::size_t row, const Variables& variables, Rng& rng) {
  const std::size_t count = values.size();
  if (generator.kind == DrawKind::kOneHot) {
    DrawOnes(count, row, rng, [&](std::size_t place) { values[place] = 1; });
  } else if (generator.kind == DrawKind::kPermutation) {
    std::iota(values.begin(), values.end(), 0.0);
    for (std::size_t i = count; i > 1; --i) std::swap(values[i - 1], values[rng.Below(i)]);
  } else {  // ascending from 0 to the bound, like row offsets of a ragged array
    const std::int64_t bound = generator.bound.EvaluateInteger(variables);
    if (bound < 0) throw OutOfBounds(generator, bound);
    for (double& v : values) v = static_cast<double>(rng.Below(static_cast<std::uint64_t>(bound) + 1));
    std::sort(values.begin(), values.end());
    values.front() = 0;
    values.back() = static_cast<double>(bound);
  }
}

// Calls `draw` with ranges and their streams of random numbers. Each range of many elements has a stream of its own, so that
// several threads draw what one would.
template <typename Draw>
void DrawByRanges(std::size_t count, Rng& rng, Draw draw) {
  if (count <= kRangeElements) return draw(Range{0, count, 0}, rng);
  const std::uint64_t seed = rng.Next();
  ForRanges(count, [&](const Range& range) {
    Rng stream(seed, range.number, 0);
    draw(range, stream);
  });
}

// Elements that do not depend on each other. What they are before they are rounded is not kept: 8 bytes for each would take
// longer than drawing them.
void DrawStored(const Generator& generator, Dtype dtype, std::span<std::byte> bytes, const Variables& variables, Rng& rng) {
  constexpr std::size_t kAtOnce = 2048;
  const std::size_t size = ByteSize(dtype);
  if (generator.kind == DrawKind::kNormal && HasRoundedNormals(dtype))
    return DrawRoundedNormals({generator.a, generator.b}, dtype, bytes, rng);
  ElementDraws draws(generator, variables, rng);
  std::array<double, kAtOnce> values;
  while (!bytes.empty()) {
    const auto some = std::span(values).first(std::min(bytes.size() / size, kAtOnce));
    draws.Next(some);
    StoreDoubles(some, dtype, bytes.first(some.size() * size));
    bytes = bytes.subspan(some.size() * size);
  }
}

void StoreOnes(Dtype dtype, std::size_t row, std::span<std::byte> bytes, Rng& rng) {
  const std::size_t size = ByteSize(dtype);
  ForRanges(bytes.size() / size, [&](const Range& range) { std::ranges::fill(PartOf(bytes, dtype, range), std::byte{0}); });
  const std::vector<std::byte> one = FromDoubles({1}, dtype);
  DrawOnes(bytes.size() / size, row, rng, [&](std::size_t place) { std::ranges::copy(one, bytes.begin() + place * size); });
}

}  // namespace

std::vector<double> DrawValues(const Generator& generator, std::size_t count, std::size_t row, const Variables& variables,
                               Rng& rng) {
  std::vector<double> values(count);
  if (!DrawsEachAlone(generator.kind)) {
    Fill(generator, values, row, variables, rng);
    return values;
  }
  DrawByRanges(count, rng, [&](const Range& range, Rng& stream) {
    ElementDraws(generator, variables, stream).Next(std::span(values).subspan(range.begin, range.end - range.begin));
  });
  return values;
}

std::vector<std::byte> GenerateInput(const Generator& generator, Dtype dtype, std::int64_t elements, std::int64_t row_length,
                                     const Variables& variables, std::uint64_t seed, std::vector<std::byte> memory) {
  if (!Fits(generator.kind, dtype)) throw Error(fmt::format("generator '{}' cannot fill {}", generator.text, ToString(dtype)));
  Rng rng(seed);
  const auto count = static_cast<std::size_t>(elements);
  const auto row = static_cast<std::size_t>(row_length);
  if (!DrawsEachAlone(generator.kind) && generator.kind != DrawKind::kOneHot)
    return FromDoubles(DrawValues(generator, count, row, variables, rng), dtype);
  const std::size_t bytes = count * ByteSize(dtype);
  if (memory.capacity() < bytes) memory = {};  // what is in it is not to be copied
  memory.resize(bytes);
  if (generator.kind == DrawKind::kOneHot) {
    StoreOnes(dtype, row, memory, rng);
    return memory;
  }
  DrawByRanges(count, rng, [&](const Range& range, Rng& stream) {
    DrawStored(generator, dtype, PartOf(memory, dtype, range), variables, stream);
  });
  return memory;
}

void StoreDoubles(std::span<const double> values, Dtype dtype, std::span<std::byte> out) {
  switch (dtype) {
    case Dtype::kF64:
      StoreAs<double>(out, values, [](double v) { return v; });
      break;
    case Dtype::kF32:
      StoreAs<float>(out, values, [](double v) { return static_cast<float>(v); });
      break;
    case Dtype::kF16:
      StoreAs<std::uint16_t>(out, values, [](double v) { return ToHalfBits(v); });
      break;
    case Dtype::kBF16:
      StoreAs<std::uint16_t>(out, values, [](double v) { return ToBFloat16Bits(v); });
      break;
    case Dtype::kI64:
      StoreIntegers<std::int64_t>(out, values);
      break;
    case Dtype::kI32:
      StoreIntegers<std::int32_t>(out, values);
      break;
    case Dtype::kI16:
      StoreIntegers<std::int16_t>(out, values);
      break;
    case Dtype::kI8:
      StoreIntegers<std::int8_t>(out, values);
      break;
    case Dtype::kU64:
      StoreIntegers<std::uint64_t>(out, values);
      break;
    case Dtype::kU32:
      StoreIntegers<std::uint32_t>(out, values);
      break;
    case Dtype::kU16:
      StoreIntegers<std::uint16_t>(out, values);
      break;
    case Dtype::kU8:
      StoreIntegers<std::uint8_t>(out, values);
      break;
  }
}

void LoadDoubles(std::span<const std::byte> bytes, Dtype dtype, std::span<double> out) {
  switch (dtype) {
    case Dtype::kF64:
      Load<double>(out, bytes, [](double v) { return v; });
      break;
    case Dtype::kF32:
      Load<float>(out, bytes, [](float v) { return static_cast<double>(v); });
      break;
    case Dtype::kF16:
      Load<std::uint16_t>(out, bytes, [](std::uint16_t v) { return static_cast<double>(FromHalfBits(v)); });
      break;
    case Dtype::kBF16:
      Load<std::uint16_t>(out, bytes, [](std::uint16_t v) { return static_cast<double>(FromBFloat16Bits(v)); });
      break;
    case Dtype::kI64:
      LoadIntegers<std::int64_t>(out, bytes);
      break;
    case Dtype::kI32:
      LoadIntegers<std::int32_t>(out, bytes);
      break;
    case Dtype::kI16:
      LoadIntegers<std::int16_t>(out, bytes);
      break;
    case Dtype::kI8:
      LoadIntegers<std::int8_t>(out, bytes);
      break;
    case Dtype::kU64:
      LoadIntegers<std::uint64_t>(out, bytes);
      break;
    case Dtype::kU32:
      LoadIntegers<std::uint32_t>(out, bytes);
      break;
    case Dtype::kU16:
      LoadIntegers<std::uint16_t>(out, bytes);
      break;
    case Dtype::kU8:
      LoadIntegers<std::uint8_t>(out, bytes);
      break;
  }
}

std::vector<std::byte> FromDoubles(const std::vector<double>& values, Dtype dtype) {
  std::vector<std::byte> bytes(values.size() * ByteSize(dtype));
  ForRanges(values.size(), [&](const Range& range) {
    StoreDoubles(std::span(values).subspan(range.begin, range.end - range.begin), dtype, PartOf(bytes, dtype, range));
  });
  return bytes;
}

std::vector<double> ToDoubles(const std::vector<std::byte>& bytes, Dtype dtype) {
  std::vector<double> values(bytes.size() / ByteSize(dtype));
  ForRanges(values.size(), [&](const Range& range) {
    LoadDoubles(PartOf(bytes, dtype, range), dtype, std::span(values).subspan(range.begin, range.end - range.begin));
  });
  return values;
}

}  // namespace evo
