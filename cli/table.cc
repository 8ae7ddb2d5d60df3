#include "cli/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "cli/print.h"

namespace evo {

Table::Table(std::vector<std::string> headings) {
  for (std::string& heading : headings) {
    const bool right = !heading.empty() && heading.front() == '>';
    right_.push_back(right);
    if (right) heading.erase(0, 1);
    heading = CleanedLine(heading);
  }
  rows_.push_back(std::move(headings));
}

void Table::Add(std::vector<std::string> cells) {
  assert(cells.size() == right_.size());
  // Cleaned before the widths are known.
  for (std::string& cell : cells) cell = CleanedLine(cell);
  rows_.push_back(std::move(cells));
}

void Table::Print(std::FILE* out) const {
  std::vector<std::size_t> widths(right_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      line += right_[i] ? fmt::format("{:>{}}", row[i], widths[i]) : fmt::format("{:<{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    PrintRaw(out, line + "\n");
  }
}

}  // namespace evo
