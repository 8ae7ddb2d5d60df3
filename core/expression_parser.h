#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/expression.h"

namespace evo {

// A node of a parsed expression.
struct ExpressionNode {
  enum class Kind { kNumber, kName, kUnary, kBinary, kCall, kConditional };
  Kind kind = Kind::kNumber;
  std::string word;  // the name, operator or function; empty for a number
  Number number;
  std::size_t column = 1;
  std::vector<ExpressionNode> operands;
};

// The root of the expression's tree, which keeps no view of the text. Throws Error with the expression and the column.
ExpressionNode ParseExpression(std::string_view text);

}  // namespace evo
