#pragma once

#include <cstddef>
#include <string_view>

#include "core/expression.h"

namespace evo {

struct ExpressionToken {
  enum class Kind { kEnd, kNumber, kName, kSymbol };
  Kind kind = Kind::kEnd;
  std::string_view text;   // empty at the end
  Number number;           // its value, for a kNumber
  std::size_t column = 1;  // of its first character, from 1
};

// Splits an expression into tokens: names, decimal and 0x integers, real numbers, operators. Keeps a view of the text.
class ExpressionLexer {
 public:
  // Reads the first token. Throws Error as Advance does.
  explicit ExpressionLexer(std::string_view text);

  const ExpressionToken& token() const { return token_; }
  // Reads the next token. Throws Error for a character or a number that cannot be understood.
  void Advance();
  // Throws an Error that shows the expression and the column.
  [[noreturn]] void Fail(std::size_t column, std::string_view what) const;

 private:
  void TakeNumber();

  std::string_view text_;
  std::size_t at_ = 0;
  ExpressionToken token_;
};

}  // namespace evo
