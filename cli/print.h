#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

// The one place that prints. Texts of databases, compilers and workers are not trusted: none of them may control the terminal or
// pass for a line of evo's own.

namespace evo {

// The text with everything visible that acts on a terminal or changes the order or the look of a line: control characters as
// \x1b, invisible and bidirectional characters as \u202e, bytes that are not UTF-8 as \xff. Line feeds and tabs stay. Cleaning
// twice is the same as cleaning once.
std::string Cleaned(std::string_view text);
// The same with line feeds and tabs as \n and \t, so that the text is one line.
std::string CleanedLine(std::string_view text);

// Prints texts of several lines. Results that cannot be written end the command: throws std::system_error. What cannot be written
// to standard error is lost, since a run goes on when nobody can read of its progress (a full disk behind it, a closed terminal).
void PrintLines(std::FILE* out, std::string_view text);
// As PrintLines, without cleaning: for escape sequences of evo's own around text that was cleaned.
void PrintRaw(std::FILE* out, std::string_view text);

// Draws lines on a terminal that stay until something else is printed on it, or they are drawn anew. The cursor waits at their
// beginning, so that all of them go even if the terminal has broken them since, as it does when it becomes narrower.
// Preconditions: the lines are cleaned, and each has fewer characters than the terminal has columns.
void PrintLive(std::FILE* out, const std::vector<std::string>& lines);

template <typename Argument>
decltype(auto) AsPrinted(const Argument& argument) {
  if constexpr (std::is_convertible_v<const Argument&, std::string_view>)
    return CleanedLine(argument);
  else
    return (argument);
}

// The lines of a text; those that have more than `width` columns are broken at blanks, and go on below the text behind their
// label. Precondition: width >= 20.
std::vector<std::string> BrokenLines(std::string_view text, std::size_t width);
// As PrintLines; on a terminal, lines that are wider than it are broken.
void PrintText(std::FILE* out, std::string_view text);

// Formats as fmt::format does, and prints as PrintText does. An argument that is a string is one line.
template <typename... Arguments>
void Print(std::FILE* out, fmt::format_string<Arguments...> format, const Arguments&... arguments) {
  PrintText(out, fmt::vformat(format, fmt::make_format_args(AsPrinted(arguments)...)));
}

}  // namespace evo
