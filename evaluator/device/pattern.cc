#include "evaluator/device/pattern.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/half.h"

namespace evo {
namespace {

void FillWithPattern(unsigned char* to, std::size_t bytes, const DevicePattern& pattern) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  const std::size_t words = bytes / kWord;
  for (std::size_t i = 0; i < words; ++i) {
    const std::uint64_t word = pattern.Word(i);
    std::memcpy(to + i * kWord, &word, kWord);
  }
  const std::uint64_t last = pattern.Word(words);
  std::memcpy(to + words * kWord, &last, bytes % kWord);
}

template <typename Stored, typename Convert>
void StoreAll(const DevicePoison& poison, Convert convert) {
  auto* to = reinterpret_cast<unsigned char*>(poison.address);
  const auto* from = reinterpret_cast<const double*>(poison.answer);
  for (std::size_t i = 0; i < poison.bytes / sizeof(Stored); ++i) {
    const Stored stored = convert(from[i]);
    std::memcpy(to + i * sizeof(Stored), &stored, sizeof(Stored));
  }
}

template <typename Stored>
void StoreIntegers(const DevicePoison& poison) {
  constexpr auto kLeast = static_cast<double>(std::numeric_limits<Stored>::min());
  constexpr auto kMost = static_cast<double>(std::numeric_limits<Stored>::max());
  StoreAll<Stored>(poison, [](double value) {
    if (!(value > kLeast)) return std::numeric_limits<Stored>::min();
    return value >= kMost ? std::numeric_limits<Stored>::max() : static_cast<Stored>(value);
  });
}

}  // namespace

// Finalizer of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014). The sum of mixed words
// does not depend on the order in which they are visited.
std::uint64_t MixWord(std::uint64_t word, std::uint64_t index) {
  std::uint64_t x = word + (index + 1) * 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

std::vector<std::byte> BytesOf(const DevicePattern& pattern, std::size_t offset, std::size_t bytes) {
  std::vector<std::byte> result;
  for (std::size_t at = offset; at < offset + bytes; ++at)
    result.push_back(static_cast<std::byte>(pattern.Word(at / sizeof(std::uint64_t)) >> (8 * (at % sizeof(std::uint64_t)))));
  return result;
}

void FillHere(const DevicePoison& poison) {
  if (poison.answer == 0) return FillWithPattern(reinterpret_cast<unsigned char*>(poison.address), poison.bytes, poison.pattern);
  switch (poison.dtype) {
    case Dtype::kF64:
      return StoreAll<double>(poison, [](double value) { return value; });
    case Dtype::kF32:
      return StoreAll<float>(poison, [](double value) { return static_cast<float>(value); });
    case Dtype::kF16:
      return StoreAll<std::uint16_t>(poison, ToHalfBits);
    case Dtype::kBF16:
      return StoreAll<std::uint16_t>(poison, ToBFloat16Bits);
    case Dtype::kI64:
      return StoreIntegers<std::int64_t>(poison);
    case Dtype::kI32:
      return StoreIntegers<std::int32_t>(poison);
    case Dtype::kI16:
      return StoreIntegers<std::int16_t>(poison);
    case Dtype::kI8:
      return StoreIntegers<std::int8_t>(poison);
    case Dtype::kU64:
      return StoreIntegers<std::uint64_t>(poison);
    case Dtype::kU32:
      return StoreIntegers<std::uint32_t>(poison);
    case Dtype::kU16:
      return StoreIntegers<std::uint16_t>(poison);
    case Dtype::kU8:
      return StoreIntegers<std::uint8_t>(poison);
  }
}

}  // namespace evo
