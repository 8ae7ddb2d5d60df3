#include "import/compiler_spellings.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "syntax/token.h"

namespace evo {
namespace {

constexpr std::size_t kOfLaunch = 3;

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// C++17 has no `register` any more, as a hint to the compiler.
void BlankRegister(std::string& text, const std::vector<SourceRange>& tokens) {
  for (const SourceRange& token : tokens) {
    if (text.compare(token.begin, token.size(), "register") == 0) text.replace(token.begin, token.size(), token.size(), ' ');
  }
}

// The end of three such brackets from here on with nothing but white space between; nullopt if there are no three.
std::optional<std::size_t> EndOfBrackets(std::string_view text, std::size_t begin, char bracket) {
  std::size_t found = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (text[i] == bracket && ++found == kOfLaunch) return i + 1;
    if (text[i] != bracket && !IsBlank(text[i])) return std::nullopt;
  }
  return std::nullopt;
}

// Moves white space between brackets behind them.
void JoinBrackets(std::string& text, std::size_t begin, std::size_t end, char bracket) {
  std::stable_partition(text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + static_cast<std::ptrdiff_t>(end),
                        [bracket](char c) { return c == bracket; });
}

// Where `begin` opens a launch, the place of what closes it, before the statement ends.
std::optional<std::size_t> ClosingBrackets(std::string_view text, const std::vector<SourceRange>& tokens, std::size_t from) {
  int depth = 0;
  for (const SourceRange& token : tokens) {
    if (token.begin < from) continue;
    const std::string_view spelled = text.substr(token.begin, token.size());
    if (spelled == "(" || spelled == "[" || spelled == "{") ++depth;
    if (spelled == ")" || spelled == "]" || spelled == "}") --depth;
    if (depth < 0 || spelled == ";") return std::nullopt;
    const bool closes = depth == 0 && spelled.front() == '>' && EndOfBrackets(text, token.begin, '>');
    if (closes) return token.begin;
  }
  return std::nullopt;
}

void JoinLaunchBrackets(std::string& text, const std::vector<SourceRange>& tokens) {
  std::size_t behind = 0;  // of what was joined last
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::size_t begin = tokens[i].begin;
    if (begin < behind || text[begin] != '<') continue;
    const auto opened = EndOfBrackets(text, begin, '<');
    if (!opened) continue;
    const std::vector<SourceRange> rest(tokens.begin() + static_cast<std::ptrdiff_t>(i), tokens.end());
    const auto closing = ClosingBrackets(text, rest, *opened);
    if (!closing) continue;
    behind = *EndOfBrackets(text, *closing, '>');
    JoinBrackets(text, *closing, behind, '>');
    JoinBrackets(text, begin, *opened, '<');
  }
}

}  // namespace

std::string WithKnownSpellings(std::string text) {
  const std::vector<SourceRange> tokens = Tokenize(text);
  BlankRegister(text, tokens);
  JoinLaunchBrackets(text, tokens);
  return text;
}

}  // namespace evo
