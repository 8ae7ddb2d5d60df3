#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

// What only a terminal gets: colours, cut lines, pictures of a few characters, a pager.

bool IsTerminal(std::FILE* out);
// The descriptor that leads to the terminal on which `out` is shown, also through a pager; else that of `out`.
int TerminalOf(std::FILE* out);

enum class Colour { kRed, kGreen, kCyan };
// The text in that colour if `out` is a terminal and NO_COLOR is not set (https://no-color.org); else as it is. Precondition: the
// text is cleaned.
std::string InColour(std::FILE* out, Colour colour, const std::string& text);

// Columns that a cleaned text in UTF-8 takes, a character each.
std::size_t ColumnsOf(std::string_view text);
// How many bytes at the beginning of a text take this many columns; all if it has fewer.
std::size_t BytesOf(std::string_view text, std::size_t columns);
// At most `columns` characters, with an ellipsis in the place of what was longer. Precondition: columns >= 1.
std::string Shortened(const std::string& text, std::size_t columns);

// Values as bars of eight heights, at most `width` of them, each the mean of its part of the values; NaN is a blank. The lowest
// value is the lowest bar. Empty if no value is a number.
std::string Sparkline(const std::vector<double>& values, std::size_t width);
// The same of the logarithms, for times of which some are a hundred times as long as others. What is not above zero has no bar.
std::string LogSparkline(std::vector<double> values, std::size_t width);

// Shows what is printed to `out` in $PAGER (`less` by default, which ends at once where everything fits) for as long as it lives.
// No effect where `out` or standard input is no terminal, or where PAGER is empty or "cat".
class Pager {
 public:
  explicit Pager(std::FILE* out);
  ~Pager();
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;

 private:
  std::FILE* out_;
  std::FILE* pager_ = nullptr;
  int terminal_ = -1;  // where `out` leads
};

}  // namespace evo
