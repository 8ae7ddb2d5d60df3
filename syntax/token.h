#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace evo {

// A half-open range of bytes in a source text.
struct SourceRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t size() const { return end - begin; }
  bool Contains(const SourceRange& other) const { return begin <= other.begin && other.end <= end; }
  bool operator==(const SourceRange&) const = default;
};

// The spelled C++ tokens of a text, in order, without white space, comments and preprocessor lines. Never fails: a character that
// is not understood is a token of its own, and an unterminated literal or comment ends with the text.
std::vector<SourceRange> Tokenize(std::string_view text);

}  // namespace evo
