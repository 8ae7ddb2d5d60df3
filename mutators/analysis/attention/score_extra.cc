#include "mutators/analysis/attention/score_extra.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace evo {
namespace {

// Of masks that are flags, and of those that are any numbers.
constexpr double kShownNumbers[] = {1, 2, -3};

std::uint64_t Mixed(std::int64_t index) {
  auto bits = static_cast<std::uint64_t>(index + 1) * 0x9e3779b97f4a7c15u;
  bits ^= bits >> 29;
  return bits * 0xbf58476d1ce4e5b9u >> 32;
}

}  // namespace

std::int64_t ScoreExtra::HeadsWith(const LaunchRuns::Sizes& sizes) const {
  std::int64_t product = 1;
  for (const std::string& name : heads) product *= sizes.at(name);
  return product;
}

std::int64_t ScoreExtra::IndexOf(const AttentionShape& shape, const LaunchRuns::Sizes& sizes, std::int64_t head, std::int64_t row,
                                 std::int64_t key) const {
  const std::int64_t own = std::max<std::int64_t>(1, HeadsWith(sizes));
  std::int64_t index = inner ? head % own : head / std::max<std::int64_t>(1, shape.heads / own);
  if (by_row) index = index * shape.rows + row;
  if (by_key) index = index * shape.keys + key;
  return index;
}

AttentionDefinition::Term ScoreExtra::TermOf(const AttentionShape& shape, const LaunchRuns::Sizes& sizes,
                                             std::function<double(std::int64_t)> elements) const {
  return [extra = *this, shape, sizes, elements = std::move(elements)](std::int64_t head, std::int64_t row, std::int64_t key) {
    const double element = elements(extra.IndexOf(shape, sizes, head, row, key));
    switch (extra.kind) {
      case Kind::kLengths:
        return static_cast<double>(key) < element ? 0.0 : -INFINITY;
      case Kind::kMask:
        return (element == 0) == extra.shows_zero ? 0.0 : -INFINITY;
      case Kind::kBias:
        return element;
      case Kind::kSlopes:
        return element * static_cast<double>(extra.negative ? row - key : key - row);
      default:
        return 0.0;
    }
  };
}

std::vector<ScoreExtra> PossibleExtras(const std::string& buffer, bool integers, std::int64_t elements,
                                       const std::vector<std::string>& heads, const AttentionShape& shape,
                                       const LaunchRuns::Sizes& sizes) {
  using enum ScoreExtra::Kind;
  std::vector<ScoreExtra> all;
  const auto add = [&](ScoreExtra extra) {
    extra.buffer = buffer;
    const std::int64_t count = extra.HeadsWith(sizes) * (extra.by_row ? shape.rows : 1) * (extra.by_key ? shape.keys : 1);
    if (count != elements || shape.heads % std::max<std::int64_t>(1, extra.HeadsWith(sizes)) != 0) return;
    if (integers) {
      extra.kind = extra.by_key ? kMask : kLengths;
      if (!extra.by_key && extra.by_row) return;
      all.push_back(extra);
      if (extra.kind == kMask) extra.shows_zero = true, all.push_back(extra);
      return;
    }
    extra.kind = extra.by_key ? kBias : kSlopes;
    if (!extra.by_key && extra.by_row) return;
    for (const bool scaled : {false, true}) {
      extra.scaled = scaled;
      extra.negative = false;
      all.push_back(extra);
      if (extra.kind == kSlopes) extra.negative = true, all.push_back(extra);
    }
  };
  for (std::size_t chosen = 0; chosen < std::size_t{1} << heads.size(); ++chosen) {
    ScoreExtra extra;
    for (std::size_t i = 0; i < heads.size(); ++i) {
      if ((chosen >> i & 1) != 0) extra.heads.push_back(heads[i]);
    }
    const bool some = chosen != 0 && chosen + 1 != std::size_t{1} << heads.size();
    for (const bool inner : {false, true}) {
      if (inner && !some) continue;
      extra.inner = inner;
      for (const bool by_row : {false, true}) {
        for (const bool by_key : {true, false}) {
          extra.by_row = by_row, extra.by_key = by_key;
          add(extra);
        }
      }
    }
  }
  return all;
}

BufferContents ContentsOf(const ScoreExtra& extra, const AttentionShape& shape, HiddenKeys hidden, bool flags) {
  BufferContents contents;
  const std::int64_t planes = (extra.by_row ? shape.rows : 1) * (extra.by_key ? shape.keys : 1);
  for (std::int64_t index = 0; index < shape.heads * planes; ++index) {
    const std::uint64_t bits = Mixed(index);
    if (extra.kind == ScoreExtra::Kind::kLengths) {
      const auto keys = static_cast<std::uint64_t>(std::max<std::int64_t>(1, shape.keys));
      contents[index] = hidden == HiddenKeys::kAll ? 0 : static_cast<double>(1 + bits % keys);
      continue;
    }
    const bool shown = hidden != HiddenKeys::kAll && (index % std::max<std::int64_t>(1, shape.keys) == 0 || bits % 2 == 0);
    const double number = flags ? 1 : kShownNumbers[bits / 2 % 3];
    contents[index] = shown == extra.shows_zero ? 0 : number;
  }
  return contents;
}

}  // namespace evo
