#include "evaluator/gate/poison.h"

#include <algorithm>
#include <vector>

namespace evo {
namespace {

constexpr std::size_t kRemembered = 3;
// Unwritten and constant integers are most often bytes of 0 or 255; these are neither.
constexpr std::uint64_t kAbsurd = 0x5b5b5b5b5b5b5b5bULL;

// The element again and again.
std::uint64_t Repeated(std::uint64_t element, std::size_t bytes) {
  std::uint64_t word = element;
  for (std::size_t have = bytes; have < sizeof(word); have *= 2) word |= word << (8 * have);
  return word;
}

struct FloatBits {
  std::uint64_t infinity, negative_infinity, large;
};

FloatBits BitsOf(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return {0x7ff0000000000000ULL, 0xfff0000000000000ULL, 0x7fe0000000000000ULL};
    case Dtype::kF16:
      return {0x7c00, 0xfc00, 0x7b00};
    case Dtype::kBF16:
      return {0x7f80, 0xff80, 0x7f00};
    default:
      return {0x7f800000, 0xff800000, 0x7f000000};
  }
}

bool IsFinite(PoisonKind kind) { return kind > PoisonKind::kNegativeInfinity; }

}  // namespace

DevicePattern PatternOf(PoisonKind kind, Dtype dtype, std::uint64_t seed) {
  const std::size_t bytes = ByteSize(dtype);
  const FloatBits floats = BitsOf(dtype);
  const std::uint64_t sign = std::uint64_t{1} << (8 * bytes - 1);
  const bool real = IsFloating(dtype);
  switch (kind) {
    case PoisonKind::kNan:
      return {real ? ~std::uint64_t{0} : kAbsurd, false};
    case PoisonKind::kInfinity:
      return {Repeated(real ? floats.infinity : sign - 1, bytes), false};
    case PoisonKind::kNegativeInfinity:
      return {Repeated(real ? floats.negative_infinity : sign, bytes), false};
    case PoisonKind::kLarge:
      return {real ? Repeated(floats.large, bytes) : ~std::uint64_t{0}, false};
    case PoisonKind::kZero:
      return {0, false};
    case PoisonKind::kRandom:
    case PoisonKind::kOtherAnswer:
      break;
  }
  return {seed, true};
}

PoisonKind PoisonSequence::Draw(Recent& recent, PoisonKind first, PoisonKind last) {
  std::vector<PoisonKind> left;
  // Where all kinds in question are recent ones, the oldest is taken again.
  for (std::size_t ignored = 0; left.empty(); ++ignored) {
    const auto from = recent.begin() + static_cast<std::ptrdiff_t>(std::min(ignored, recent.size()));
    for (int kind = static_cast<int>(first); kind <= static_cast<int>(last); ++kind) {
      if (std::find(from, recent.end(), static_cast<PoisonKind>(kind)) == recent.end())
        left.push_back(static_cast<PoisonKind>(kind));
    }
  }
  const PoisonKind drawn = left[rng_.Below(left.size())];
  recent.push_back(drawn);
  if (recent.size() > kRemembered) recent.pop_front();
  return drawn;
}

Poison PoisonSequence::WithOutputs(PoisonKind outputs) {
  const PoisonKind workspaces = Draw(workspaces_, PoisonKind::kNan, PoisonKind::kRandom);
  const PoisonKind scrubbed = Draw(scrubbed_, PoisonKind::kNan, PoisonKind::kRandom);
  return {outputs, workspaces, scrubbed, rng_.Next()};
}

Poison PoisonSequence::First() { return WithOutputs(Draw(outputs_, PoisonKind::kNan, PoisonKind::kNegativeInfinity)); }

Poison PoisonSequence::Next() {
  const bool was_finite = !outputs_.empty() && IsFinite(outputs_.back());
  return WithOutputs(
      Draw(outputs_, was_finite || outputs_.empty() ? PoisonKind::kNan : PoisonKind::kLarge, PoisonKind::kOtherAnswer));
}

}  // namespace evo
