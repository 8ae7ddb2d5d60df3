#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

// `#ifndef NAME`, `#define NAME value`, `#endif` on three lines in a row, value a decimal integer.
struct ParameterBlock {
  std::string name;
  std::int64_t value = 0;
  std::size_t value_begin = 0;  // offsets of the value's spelling
  std::size_t value_end = 0;
  int line = 0;  // of the #define
};

// Every block of that form, in order, tunable or not.
std::vector<ParameterBlock> FindParameterBlocks(std::string_view text);

// Where the last #include ends.
struct IncludeEnd {
  int line = 0;            // of the last #include; 0 if there is none
  std::size_t offset = 0;  // behind its line's end, and behind the #endif of a condition it stands in
};
IncludeEnd FindIncludeEnd(std::string_view text);

// NAME of a line `#include "NAME"`; nullopt for any other line.
std::optional<std::string> QuotedInclude(std::string_view line);

}  // namespace evo
