#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

// Three lines in a row, `#ifndef NAME`, `#define NAME value` and `#endif`, with a decimal integer as the value.
struct ParameterBlock {
  std::string name;
  std::int64_t value = 0;
  std::size_t value_begin = 0;  // offsets of the value as written
  std::size_t value_end = 0;
  int line = 0;  // of the #define
};

// Finds every block of this form, in order, whether the template declares NAME as a parameter or not.
std::vector<ParameterBlock> FindParameterBlocks(std::string_view text);

// The end of the #include lines.
struct IncludeEnd {
  int line = 0;            // of the last #include; 0 if there is none
  std::size_t offset = 0;  // after its line, or after the #endif of a condition around it
};
IncludeEnd FindIncludeEnd(std::string_view text);

// Where the lines of another parameter may be inserted: after the last block that no condition encloses, else after the includes
// and `#pragma nv_hdrstop`, else after the comment at the beginning.
std::size_t EndOfParameterBlocks(std::string_view text);

// NAME of a line `#include "NAME"`; nullopt for any other line.
std::optional<std::string> QuotedInclude(std::string_view line);

}  // namespace evo
