#include "cli/unified_diff.h"

#include <fmt/color.h>
#include <fmt/format.h>

#include <sstream>

namespace evo {
namespace {

fmt::text_style StyleOf(const std::string& line) {
  if (line.starts_with("--- ") || line.starts_with("+++ ")) return fmt::emphasis::bold;
  if (line.starts_with("@@")) return fg(fmt::terminal_color::cyan);
  if (line.starts_with("-")) return fg(fmt::terminal_color::red);
  if (line.starts_with("+")) return fg(fmt::terminal_color::green);
  return {};
}

}  // namespace

std::string Coloured(const std::string& unified_diff) {
  std::string coloured;
  std::istringstream lines(unified_diff);
  for (std::string line; std::getline(lines, line);) coloured += fmt::format(StyleOf(line), "{}", line) + "\n";
  return coloured;
}

}  // namespace evo
