#include "kernel_templates/directive_lexer.h"

#include <fmt/format.h>

#include "core/error.h"

namespace evo {
namespace {

constexpr std::string_view kBlank = " \t\r";

// Written by hand because Trim runs on every line of every source, where the standard library's set searches take ten times as
// long.
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Offset of the `//` that begins a directive in the line; npos if there is none.
std::size_t FindMark(std::string_view line) {
  for (std::size_t at = line.find("//"); at != std::string_view::npos; at = line.find("//", at + 1)) {
    const std::size_t word = line.find_first_not_of(kBlank, at + 2);
    if (word != std::string_view::npos && line.substr(word).starts_with("evo:")) return at;
  }
  return std::string_view::npos;
}

// Appends `part`, which begins at offset `begin` of the source, without its surrounding blanks. Returns whether the directive
// continues on the next line.
bool Append(Directive& directive, std::string_view part, std::size_t begin) {
  const std::size_t first = part.find_first_not_of(kBlank);
  std::string_view kept = Trim(part);
  const bool goes_on = kept.ends_with('\\');
  if (goes_on) kept = kept.substr(0, kept.find_last_not_of(" \t\r\\") + 1);
  if (kept.empty()) return goes_on;
  if (!directive.text.empty()) {
    directive.text += ' ';
    directive.origin.push_back(begin + first);
  }
  for (std::size_t i = 0; i < kept.size(); ++i) directive.origin.push_back(begin + first + i);
  directive.text += kept;
  directive.end = begin + first + kept.size();
  return goes_on;
}

}  // namespace

std::vector<SourceLine> SplitLines(std::string_view text) {
  std::vector<SourceLine> lines;
  lines.reserve(text.size() / 32);  // roughly the length of a line of code
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) end = text.size();
    lines.push_back({text.substr(begin, end - begin), begin, static_cast<int>(lines.size()) + 1});
    begin = end + 1;
  }
  return lines;
}

std::string_view Trim(std::string_view text) {
  std::size_t first = 0;
  while (first < text.size() && IsBlank(text[first])) ++first;
  std::size_t end = text.size();
  while (end > first && IsBlank(text[end - 1])) --end;
  return text.substr(first, end - first);
}

bool IsIdentifier(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  return !text.empty() && (text[0] < '0' || text[0] > '9') && text.find_first_not_of(kLetters) == std::string_view::npos;
}

std::vector<Directive> FindDirectives(const std::string& file, std::string_view text) {
  std::vector<Directive> directives;
  const std::vector<SourceLine> lines = SplitLines(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t mark = FindMark(lines[i].text);
    if (mark == std::string_view::npos) continue;
    if (lines[i].text.find_first_not_of(kBlank) != mark) {
      throw UsageError(
          fmt::format("{}:{}: a directive needs a line of its own; move it there, or break up 'evo:'", file, lines[i].number));
    }
    Directive directive;
    directive.line = lines[i].number;
    const std::size_t word = lines[i].text.find("evo:", mark) + 4;
    std::size_t rest = lines[i].text.find_first_of(" \t\r\\", word);
    if (rest == std::string_view::npos) rest = lines[i].text.size();
    directive.word = lines[i].text.substr(word, rest - word);
    directive.end = lines[i].begin + rest;
    bool goes_on = Append(directive, lines[i].text.substr(rest), lines[i].begin + rest);
    while (goes_on) {
      ++i;
      const std::string_view next = i < lines.size() ? Trim(lines[i].text) : std::string_view();
      if (!next.starts_with("//") || FindMark(next) != std::string_view::npos) {
        throw UsageError(fmt::format("{}:{}: the line before ends in a backslash, so this one must continue with '// ...'", file,
                                     lines[i - 1].number + 1));
      }
      const std::size_t behind = lines[i].text.find("//") + 2;
      goes_on = Append(directive, lines[i].text.substr(behind), lines[i].begin + behind);
    }
    directives.push_back(std::move(directive));
  }
  return directives;
}

}  // namespace evo
