#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

// One line of a source without its line end; `begin` is its offset, `number` counts from 1.
struct SourceLine {
  std::string_view text;
  std::size_t begin = 0;
  int number = 1;
};

// Splits a text into its lines, which are views into `text`.
std::vector<SourceLine> SplitLines(std::string_view text);

// The text without blanks at its ends.
std::string_view Trim(std::string_view text);
// Whether the text is a C identifier.
bool IsIdentifier(std::string_view text);

// One `// evo:WORD REST` comment. A line that ends in a backslash continues after the `//` of the next line.
struct Directive {
  std::string word;                 // "launch"
  std::string text;                 // the rest, trimmed, with the lines of a continued directive joined by a space
  std::vector<std::size_t> origin;  // for each character of text, its offset in the source
  std::size_t end = 0;              // offset after the directive's last character
  int line = 1;                     // where it begins
};

// Finds every directive, in order. `file` appears in messages. Throws UsageError for a directive that follows code on the same
// line, and for a continuation that is not a comment.
std::vector<Directive> FindDirectives(const std::string& file, std::string_view text);

}  // namespace evo
