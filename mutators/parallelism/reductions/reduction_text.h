#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <vector>

namespace evo {

// Whole lines moved to the right by a unit of two spaces, except pragmas.
inline std::string MovedLines(const std::string& lines) {
  std::string moved;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at) + 1;
    moved += (lines[at] == '#' ? "" : "  ") + lines.substr(at, end - at);
    at = end;
  }
  return moved;
}

// A statement, or several in braces, behind a header, on lines at `indent`.
inline std::string StatementsUnder(const std::string& header, const std::string& indent,
                                   const std::vector<std::string>& statements) {
  if (statements.size() == 1) return fmt::format("{}{} {}\n", indent, header, statements.front());
  std::string text = fmt::format("{}{} {{\n", indent, header);
  for (const std::string& statement : statements) text += fmt::format("{}  {}\n", indent, statement);
  return text + indent + "}\n";
}

}  // namespace evo
