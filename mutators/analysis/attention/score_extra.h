#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "mutators/analysis/attention/attention_definition.h"
#include "mutators/analysis/grid_runs/launch_runs.h"

namespace evo {

// A fourth buffer that the scores of a source's launches depend on: how many keys a head has, which keys are hidden, what is
// added to scores, or what the distance of a key is multiplied by.
struct ScoreExtra {
  enum class Kind : std::uint8_t { kNone, kLengths, kMask, kBias, kSlopes };
  Kind kind = Kind::kNone;
  std::string buffer;
  std::vector<std::string> heads;  // sizes of which the product is how many heads have elements of their own
  bool inner = false;              // whether these are the inner ones of all heads, and not the outer ones
  bool by_row = false, by_key = false;
  bool shows_zero = false;  // of a mask: whether zeros show keys, and not the others
  bool scaled = false;      // whether it is added before scores are scaled
  bool negative = false;    // of slopes: whether they are multiplied by how far the key is before the row

  bool integers() const { return kind == Kind::kLengths || kind == Kind::kMask; }
  std::int64_t HeadsWith(const LaunchRuns::Sizes& sizes) const;
  // The element for a head, a row and a key.
  std::int64_t IndexOf(const AttentionShape& shape, const LaunchRuns::Sizes& sizes, std::int64_t head, std::int64_t row,
                       std::int64_t key) const;
  // What it adds to scores, with these elements.
  AttentionDefinition::Term TermOf(const AttentionShape& shape, const LaunchRuns::Sizes& sizes,
                                   std::function<double(std::int64_t)> elements) const;
};

// All that such a buffer with so many elements may be, of heads with these sizes.
std::vector<ScoreExtra> PossibleExtras(const std::string& buffer, bool integers, std::int64_t elements,
                                       const std::vector<std::string>& heads, const AttentionShape& shape,
                                       const LaunchRuns::Sizes& sizes);

// What the elements of such a buffer of integers are in a run: some keys hidden, but never the first one; or all.
enum class HiddenKeys : std::uint8_t { kSome, kAll };
BufferContents ContentsOf(const ScoreExtra& extra, const AttentionShape& shape, HiddenKeys hidden, bool flags);

}  // namespace evo
