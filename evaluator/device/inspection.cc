#include "evaluator/device/inspection.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/half.h"
#include "core/parallel_ranges.h"
#include "evaluator/device/pattern.h"

namespace evo {
namespace {

InspectionResult HashBytes(const unsigned char* bytes, std::uint64_t count) {
  constexpr std::uint64_t kWord = sizeof(std::uint64_t);
  const auto of_words = OfRanges<std::uint64_t>((count + kWord - 1) / kWord, [&](const Range& words) {
    std::uint64_t hash = 0;
    const auto add = [&](std::uint64_t i, std::uint64_t have) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + i * kWord, have);
      hash += MixWord(word, i);
    };
    const std::uint64_t whole = std::min<std::uint64_t>(words.end, count / kWord);
    for (std::uint64_t i = words.begin; i < whole; ++i) add(i, kWord);
    if (whole < words.end) add(whole, count % kWord);
    return hash;
  });
  InspectionResult result;
  result.hash = std::accumulate(of_words.begin(), of_words.end(), std::uint64_t{0});
  return result;
}

InspectionResult CompareBytes(const unsigned char* bytes, const unsigned char* other, std::uint64_t count) {
  InspectionResult result;
  if (std::memcmp(bytes, other, count) == 0) return result;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (bytes[i] == other[i]) continue;
    if (result.different++ == 0) result.first = i;
  }
  return result;
}

InspectionResult ComparePattern(const unsigned char* bytes, std::uint64_t count, const DevicePattern& pattern) {
  constexpr std::uint64_t kWord = sizeof(std::uint64_t);
  InspectionResult result;
  for (std::uint64_t i = 0; i < count; i += kWord) {
    const std::uint64_t word = pattern.Word(i / kWord);
    const std::uint64_t size = std::min(kWord, count - i);
    if (std::memcmp(bytes + i, &word, size) == 0) continue;
    const InspectionResult here = CompareBytes(bytes + i, reinterpret_cast<const unsigned char*>(&word), size);
    if (result.different == 0) result.first = i + here.first;
    result.different += here.different;
  }
  return result;
}

template <typename Stored, typename Convert>
InspectionResult CompareOutput(const Inspection& inspection, Convert convert) {
  const auto* output = reinterpret_cast<const unsigned char*>(inspection.address);
  const auto* reference = reinterpret_cast<const double*>(inspection.other);
  InspectionResult result;
  for (std::uint64_t i = 0; i < inspection.bytes / sizeof(Stored); ++i) {
    Stored stored;
    std::memcpy(&stored, output + i * sizeof(Stored), sizeof(Stored));
    const double value = convert(stored);
    const double wanted = reference[i];
    const bool comparable = std::isfinite(wanted);
    bool same = value == wanted;
    if (!inspection.exact) same = comparable ? std::isfinite(value) : same || (std::isnan(value) && std::isnan(wanted));
    if (!same && result.different++ == 0) result.first = i;
    if (!same || !comparable) continue;
    const double error = std::abs(value - wanted);
    result.squares += error * error;
    result.reference_squares += wanted * wanted;
    if (error > result.largest) {
      result.largest = error;
      result.worst = i;
    }
  }
  return result;
}

template <typename Stored>
InspectionResult CompareOutput(const Inspection& inspection) {
  return CompareOutput<Stored>(inspection, [](Stored stored) { return static_cast<double>(stored); });
}

InspectionResult CompareOutput(const Inspection& inspection) {
  switch (inspection.dtype) {
    case Dtype::kF64:
      return CompareOutput<double>(inspection);
    case Dtype::kF32:
      return CompareOutput<float>(inspection);
    case Dtype::kF16:
      return CompareOutput<std::uint16_t>(inspection, [](std::uint16_t bits) { return double{FromHalfBits(bits)}; });
    case Dtype::kBF16:
      return CompareOutput<std::uint16_t>(inspection, [](std::uint16_t bits) { return double{FromBFloat16Bits(bits)}; });
    case Dtype::kI64:
      return CompareOutput<std::int64_t>(inspection);
    case Dtype::kI32:
      return CompareOutput<std::int32_t>(inspection);
    case Dtype::kI16:
      return CompareOutput<std::int16_t>(inspection);
    case Dtype::kI8:
      return CompareOutput<std::int8_t>(inspection);
    case Dtype::kU64:
      return CompareOutput<std::uint64_t>(inspection);
    case Dtype::kU32:
      return CompareOutput<std::uint32_t>(inspection);
    case Dtype::kU16:
      return CompareOutput<std::uint16_t>(inspection);
    case Dtype::kU8:
      return CompareOutput<std::uint8_t>(inspection);
  }
  return {};
}

}  // namespace

void InspectionResult::Add(const InspectionResult& part) {
  different += part.different;
  first = std::min(first, part.first);
  squares += part.squares;
  reference_squares += part.reference_squares;
  hash += part.hash;
  if (part.largest > largest || (part.largest == largest && part.worst < worst)) {
    largest = part.largest;
    worst = part.worst;
  }
}

InspectionResult InspectHere(const Inspection& inspection) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(inspection.address);
  switch (inspection.kind) {
    case Inspection::Kind::kHash:
      return HashBytes(bytes, inspection.bytes);
    case Inspection::Kind::kEqual:
      return CompareBytes(bytes, reinterpret_cast<const unsigned char*>(inspection.other), inspection.bytes);
    case Inspection::Kind::kOutput:
      return CompareOutput(inspection);
    case Inspection::Kind::kPattern:
      return ComparePattern(bytes, inspection.bytes, {inspection.other, !inspection.exact});
  }
  return {};
}

}  // namespace evo
