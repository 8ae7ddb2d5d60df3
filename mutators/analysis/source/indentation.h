#pragma once

#include <string>

#include "syntax/syntax_tree.h"

namespace evo {

// Marks in the text of an edit. The lines that begin between the first and the second, in the text after the edit, are indented
// by one unit more: the statements around which the edit puts a loop. ApplyEdit removes the marks.
inline constexpr char kIndentFrom = '\x0e';
inline constexpr char kIndentTo = '\x0f';

// By what a file indents the statements of a block: the most frequent difference between a statement's line and its block's line;
// two spaces if there is none.
std::string IndentUnit(const SyntaxTree& tree);
// A text that mutators have written, with units of two spaces, in units of the file. Its first line stays; the others are
// indented by their depth in braces below `base`.
std::string Reindented(const std::string& text, const std::string& base, const std::string& unit);
// The text with all lines but the first one moved to the right by `indent`.
std::string LinesAt(const std::string& text, const std::string& indent);
// `head {`, the statement and `}` on lines of their own, for a head that stands at `indent`.
std::string Block(const std::string& head, const std::string& statement, const std::string& indent);
// A statement with the comment lines before it and the comment after it, on lines of their own at `indent`. `text` takes the
// place of the statement's own.
std::string WithComments(const SyntaxTree& tree, int statement, const std::string& text, const std::string& indent);
// The text without marks, and indented between them.
std::string WithoutMarks(std::string text, const std::string& unit);

}  // namespace evo
