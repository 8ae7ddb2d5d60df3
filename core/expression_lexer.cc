#include "core/expression_lexer.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "core/error.h"

namespace evo {
namespace {

// Longest first, so that `<<` is not read as two `<`.
constexpr std::array<std::string_view, 25> kSymbols{"||", "&&", "==", "!=", "<=", ">=", "<<", ">>", "<", ">", "|", "^", "&",
                                                    "+",  "-",  "*",  "/",  "%",  "?",  ":",  "(",  ")", ",", "!", "~"};

// Used instead of <cctype>, which depends on the locale.
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

ExpressionLexer::ExpressionLexer(std::string_view text) : text_(text) { Advance(); }

void ExpressionLexer::Fail(std::size_t column, std::string_view what) const {
  throw Error(fmt::format("expression '{}', column {}: {}", text_, column, what));
}

void ExpressionLexer::Advance() {
  while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  token_ = {ExpressionToken::Kind::kEnd, {}, {}, at_ + 1};
  if (at_ == text_.size()) return;
  const char first = text_[at_];
  const bool number = IsDigit(first) || (first == '.' && at_ + 1 < text_.size() && IsDigit(text_[at_ + 1]));
  if (number) return TakeNumber();
  if (IsNameStart(first)) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && (IsNameStart(text_[end]) || IsDigit(text_[end]))) ++end;
    token_.kind = ExpressionToken::Kind::kName;
    token_.text = text_.substr(at_, end - at_);
  } else {
    token_.kind = ExpressionToken::Kind::kSymbol;
    for (const std::string_view symbol : kSymbols) {
      if (token_.text.empty() && text_.substr(at_).starts_with(symbol)) token_.text = text_.substr(at_, symbol.size());
    }
    if (token_.text.empty()) Fail(at_ + 1, fmt::format("'{}' has no meaning in an expression", first));
  }
  at_ += token_.text.size();
}

void ExpressionLexer::TakeNumber() {
  std::size_t end = at_;
  bool real = false;
  const bool hexadecimal = text_.substr(at_).starts_with("0x") || text_.substr(at_).starts_with("0X");
  while (end < text_.size() && (IsNameStart(text_[end]) || IsDigit(text_[end]) || text_[end] == '.')) {
    const bool exponent = !hexadecimal && (text_[end] == 'e' || text_[end] == 'E');
    real = real || exponent || text_[end] == '.';
    ++end;
    if (exponent && end < text_.size() && (text_[end] == '+' || text_[end] == '-')) ++end;
  }
  token_.kind = ExpressionToken::Kind::kNumber;
  token_.text = text_.substr(at_, end - at_);
  const char* const last = text_.data() + end;
  std::from_chars_result read{};
  if (real) {
    token_.number.is_real = true;
    read = std::from_chars(text_.data() + at_, last, token_.number.real);
  } else if (hexadecimal) {
    read = std::from_chars(text_.data() + at_ + 2, last, token_.number.integer, 16);
  } else {
    // C would read it as octal, which is hardly ever meant.
    if (token_.text.size() > 1 && text_[at_] == '0') Fail(at_ + 1, fmt::format("number '{}' begins with 0", token_.text));
    read = std::from_chars(text_.data() + at_, last, token_.number.integer);
  }
  if (read.ec == std::errc::result_out_of_range) Fail(at_ + 1, fmt::format("number '{}' is too large", token_.text));
  if (read.ec != std::errc() || read.ptr != last) Fail(at_ + 1, fmt::format("'{}' is not a number", token_.text));
  at_ = end;
}

}  // namespace evo
