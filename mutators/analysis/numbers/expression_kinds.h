#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "syntax/syntax_tree.h"

namespace evo {

enum class ExpressionKind : std::uint8_t {
  kName,
  kLiteral,
  kParentheses,
  kUnary,
  kBinary,
  kConditional,
  kCast,
  kReinterpret,
  kMember,
  kSubscript,
  kCall,
  kOther,
};

// What each node of a tree is as an expression, found once: code that runs kernels asks for the same nodes many times.
class ExpressionKinds {
 public:
  // The tree outlives the object.
  explicit ExpressionKinds(const SyntaxTree& tree);

  ExpressionKind KindOf(int node) const { return kinds_[static_cast<std::size_t>(node)]; }
  // As SyntaxTree::Operator.
  std::string_view OperatorOf(int node) const { return operators_[static_cast<std::size_t>(node)]; }
  // Whether an expression is a member of a built-in variable: `threadIdx.x`.
  bool IsBuiltin(int node) const { return builtins_[static_cast<std::size_t>(node)]; }

 private:
  std::vector<ExpressionKind> kinds_;
  std::vector<std::string_view> operators_;
  std::vector<bool> builtins_;
};

}  // namespace evo
