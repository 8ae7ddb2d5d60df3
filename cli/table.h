#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

// Columns that a line may have: those of the terminal behind the stream, at least 60, or 130 where there is none.
std::size_t LineWidth(std::FILE* out);

// A cleaned text as lines of at most `width` columns, broken at blanks where that is possible and never within a character. At
// least one line. Precondition: width >= 4.
std::vector<std::string> WrappedLines(std::string_view text, std::size_t width);

// Prints a text of one line, cleaned, on as many lines as it needs.
void PrintWrapped(std::FILE* out, std::string_view text);

// A table for people: columns as wide as their longest cell, with two spaces between them and none at the end of a line. Where
// that is wider than a line, the widest columns of text become narrower, and their cells have several lines; on a terminal they
// are cut instead, with an ellipsis. If the columns do not fit even so, the table is printed in parts, one below the other, each
// with the first column.
class Table {
 public:
  // A heading that begins with '>' (which is not printed) aligns its column to the right, as numbers need it. Without any heading
  // there is no line of headings.
  explicit Table(std::vector<std::string> headings);
  // Precondition: as many cells as headings.
  void Add(std::vector<std::string> cells);
  void Print(std::FILE* out) const;

 private:
  struct Room {
    std::size_t wanted = 0;
    std::size_t least = 0;
    std::size_t below_heading = 0;  // for its cells and the longest word of its heading
  };
  Room RoomOf(std::size_t column) const;
  std::vector<std::vector<std::size_t>> Parts(std::size_t line) const;
  std::vector<std::size_t> Widths(const std::vector<std::size_t>& columns, std::size_t line) const;
  void PrintPart(std::FILE* out, const std::vector<std::size_t>& columns) const;

  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;  // the headings first
};

}  // namespace evo
