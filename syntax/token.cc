#include "syntax/token.h"

#include <algorithm>
#include <array>

namespace evo {
namespace {

using namespace std::string_view_literals;

constexpr std::array kPunctuators3{"<<="sv, ">>="sv, "..."sv, "->*"sv, "<=>"sv};
constexpr std::array kPunctuators2{"::"sv, "->"sv, "++"sv, "--"sv, "<<"sv, ">>"sv, "<="sv, ">="sv, "=="sv, "!="sv, "&&"sv,
                                   "||"sv, "+="sv, "-="sv, "*="sv, "/="sv, "%="sv, "&="sv, "|="sv, "^="sv, ".*"sv, "##"sv};

// Used instead of <cctype>, which depends on the locale.
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWord(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (c & 0x80);
}
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<SourceRange> Run() {
    std::vector<SourceRange> tokens;
    while (SkipToToken()) {
      const std::size_t begin = at_;
      at_ = std::min(TokenEnd(), text_.size());
      line_start_ = false;
      tokens.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_)});
    }
    return tokens;
  }

 private:
  bool At(std::string_view what) const { return text_.substr(at_, what.size()) == what; }

  bool SkipToToken() {
    while (at_ < text_.size()) {
      if (text_[at_] == '\n') line_start_ = true;
      if (IsSpace(text_[at_]) || At("\\\n")) {
        ++at_;
      } else if (At("//")) {
        SkipLine();
      } else if (At("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else if (line_start_ && text_[at_] == '#') {
        SkipLine();
      } else {
        return true;
      }
    }
    return false;
  }

  // Skips to the end of the line, including lines continued by a backslash.
  void SkipLine() {
    while (at_ < text_.size() && text_[at_] != '\n') at_ += At("\\\n") ? 2 : At("\\\r\n") ? 3 : 1;
    at_ = std::min(at_, text_.size());
  }

  std::size_t TokenEnd() const {
    const char c = text_[at_];
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (IsDigit(c) || (c == '.' && IsDigit(next))) return NumberEnd();
    if (IsWord(c)) return WordEnd();
    if (c == '"' || c == '\'') return LiteralEnd(c);
    for (const std::string_view punctuator : kPunctuators3) {
      if (At(punctuator)) return at_ + 3;
    }
    for (const std::string_view punctuator : kPunctuators2) {
      if (At(punctuator)) return at_ + 2;
    }
    return at_ + 1;
  }

  std::size_t WordEnd() const {
    std::size_t end = at_;
    while (end < text_.size() && IsWord(text_[end])) ++end;
    return end;
  }

  // A preprocessing number: 1.0e-5f, 0x1p+3, 1'000ull.
  std::size_t NumberEnd() const {
    std::size_t end = at_;
    while (end < text_.size()) {
      const char c = text_[end];
      const char before = end > at_ ? text_[end - 1] : '\0';
      const bool sign = (c == '+' || c == '-') && (before == 'e' || before == 'E' || before == 'p' || before == 'P');
      const bool separator = c == '\'' && end + 1 < text_.size() && IsWord(text_[end + 1]);
      if (!IsWord(c) && c != '.' && !sign && !separator) break;
      ++end;
    }
    return end;
  }

  std::size_t LiteralEnd(char quote) const {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
    return end + 1;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool line_start_ = true;
};

}  // namespace

std::vector<SourceRange> Tokenize(std::string_view text) { return Lexer(text).Run(); }

}  // namespace evo
