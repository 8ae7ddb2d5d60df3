#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

// Why a source is refused, with its line.
struct SourceObjection {
  int line = 0;
  std::string what;  // what stands there
  std::string remedy;
};

enum class SourceTokenKind { kName, kNumber, kLiteral, kPunctuation };

struct SourceToken {
  SourceTokenKind kind = SourceTokenKind::kPunctuation;
  std::string text;  // a punctuation token has one character, but `##` is one token
  int line = 0;
};

// A preprocessor line.
struct SourceDirective {
  std::string word;  // "define"; empty for `#` alone
  std::vector<SourceToken> tokens;
  std::string rest;  // what follows the word, without comments
  int line = 0;
};

struct SourceTokens {
  std::vector<SourceToken> code;  // outside of preprocessor lines
  std::vector<SourceDirective> directives;
};

// Splits a source as the first three translation phases of C++ do: lines that end in a backslash are joined, comments are left
// out. Refuses what compilers treat differently: trigraphs, digraphs of `#` and of braces, blanks between a backslash and the end
// of its line, raw strings, universal character names, characters beyond ASCII outside comments and literals, control characters.
std::optional<SourceObjection> Tokenise(std::string_view source, SourceTokens& tokens);

}  // namespace evo
