#include "cli/table.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "cli/print.h"
#include "cli/terminal.h"

namespace evo {
namespace {

constexpr std::size_t kPiped = 130;
constexpr std::size_t kLeastTerminal = 60;
constexpr std::size_t kGap = 2;
// A column of text is not made narrower.
constexpr std::size_t kLeastText = 12;

std::size_t LongestWord(std::string_view text) {
  std::size_t longest = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    longest = std::max(longest, ColumnsOf(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return longest;
}

}  // namespace

std::size_t LineWidth(std::FILE* out) {
  winsize size{};
  const int fd = TerminalOf(out);
  if (fd < 0 || ::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kPiped;
  return std::max<std::size_t>(size.ws_col, kLeastTerminal);
}

std::vector<std::string> WrappedLines(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (ColumnsOf(text) > width) {
    const std::size_t room = BytesOf(text, width);
    std::size_t end = text.rfind(' ', room);
    if (end == std::string_view::npos || end == 0) end = room;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

void PrintWrapped(std::FILE* out, std::string_view text) {
  for (const std::string& line : WrappedLines(CleanedLine(text), LineWidth(out))) PrintRaw(out, line + "\n");
}

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

Table::Room Table::RoomOf(std::size_t column) const {
  Room room;
  for (const auto& row : rows_) {
    const bool heading = &row == &rows_.front();
    room.wanted = std::max(room.wanted, ColumnsOf(row[column]));
    room.below_heading = std::max(room.below_heading, heading ? LongestWord(row[column]) : ColumnsOf(row[column]));
    // Numbers are never broken, their headings are.
    if (right_[column]) room.least = room.below_heading;
  }
  if (!right_[column]) room.least = std::min(room.wanted, kLeastText);
  room.least = std::max(room.least, std::min<std::size_t>(room.wanted, 4));
  return room;
}

// Groups of columns that fit into a line, each with the first column.
std::vector<std::vector<std::size_t>> Table::Parts(std::size_t line) const {
  std::vector<std::vector<std::size_t>> parts{{0}};
  const std::size_t first = RoomOf(0).least;
  std::size_t used = first;
  for (std::size_t i = 1; i < right_.size(); ++i) {
    const std::size_t more = kGap + RoomOf(i).least;
    if (used + more > line && parts.back().size() > 1) {
      parts.push_back({0});
      used = first;
    }
    parts.back().push_back(i);
    used += more;
  }
  return parts;
}

// A column that only its heading makes wide gives way first, since a heading can have several lines; then the widest.
std::vector<std::size_t> Table::Widths(const std::vector<std::size_t>& columns, std::size_t line) const {
  std::vector<Room> rooms;
  std::vector<std::size_t> widths;
  for (const std::size_t column : columns) {
    rooms.push_back(RoomOf(column));
    widths.push_back(rooms.back().wanted);
  }
  const std::size_t gaps = kGap * (widths.size() - 1);
  for (const auto least : {&Room::below_heading, &Room::least}) {
    while (std::accumulate(widths.begin(), widths.end(), gaps) > line) {
      std::size_t widest = widths.size();
      for (std::size_t i = 0; i < widths.size(); ++i) {
        if (widths[i] > std::max(rooms[i].*least, rooms[i].least) && (widest == widths.size() || widths[i] > widths[widest]))
          widest = i;
      }
      if (widest == widths.size()) break;
      --widths[widest];
    }
  }
  return widths;
}

void Table::Print(std::FILE* out) const {
  bool first = true;
  for (const std::vector<std::size_t>& columns : Parts(LineWidth(out))) {
    if (!std::exchange(first, false)) PrintRaw(out, "\n");
    PrintPart(out, columns);
  }
}

void Table::PrintPart(std::FILE* out, const std::vector<std::size_t>& columns) const {
  const std::vector<std::size_t> widths = Widths(columns, LineWidth(out));
  const bool cut = IsTerminal(out);
  const auto& headings = rows_.front();
  const bool untitled = std::all_of(headings.begin(), headings.end(), [](const auto& one) { return one.empty(); });
  for (std::size_t r = untitled ? 1 : 0; r < rows_.size(); ++r) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::size_t width = std::max<std::size_t>(widths[i], 4);
      cells.push_back(cut && r > 0 ? std::vector<std::string>{Shortened(rows_[r][columns[i]], width)}
                                   : WrappedLines(rows_[r][columns[i]], width));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t row = 0; row < height; ++row) {
      std::string line;
      for (std::size_t i = 0; i < columns.size(); ++i) {
        if (i > 0) line += std::string(kGap, ' ');
        const std::string& cell = row < cells[i].size() ? cells[i][row] : "";
        line += right_[columns[i]] ? fmt::format("{:>{}}", cell, widths[i]) : fmt::format("{:<{}}", cell, widths[i]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      PrintRaw(out, line + "\n");
    }
  }
}

}  // namespace evo
