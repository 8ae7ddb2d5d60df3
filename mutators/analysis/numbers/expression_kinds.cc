#include "mutators/analysis/numbers/expression_kinds.h"

#include <utility>

namespace evo {
namespace {

ExpressionKind KindNamed(std::string_view name) {
  using enum ExpressionKind;
  constexpr std::pair<std::string_view, ExpressionKind> kKinds[] = {{"DeclRefExpr", kName},
                                                                    {"IntegerLiteral", kLiteral},
                                                                    {"FloatingLiteral", kLiteral},
                                                                    {"CXXBoolLiteralExpr", kLiteral},
                                                                    {"ParenExpr", kParentheses},
                                                                    {"UnaryOperator", kUnary},
                                                                    {"BinaryOperator", kBinary},
                                                                    {"CompoundAssignOperator", kBinary},
                                                                    {"ConditionalOperator", kConditional},
                                                                    {"CStyleCastExpr", kCast},
                                                                    {"CXXStaticCastExpr", kCast},
                                                                    {"CXXFunctionalCastExpr", kCast},
                                                                    {"CXXReinterpretCastExpr", kReinterpret},
                                                                    {"MemberRefExpr", kMember},
                                                                    {"ArraySubscriptExpr", kSubscript},
                                                                    {"CallExpr", kCall}};
  for (const auto& [known, kind] : kKinds) {
    if (known == name) return kind;
  }
  return kOther;
}

bool IsBuiltinMember(std::string_view text) {
  for (const std::string_view name : {"threadIdx.", "blockIdx.", "blockDim.", "gridDim."}) {
    if (text.size() == name.size() + 1 && text.starts_with(name)) return text.back() >= 'x' && text.back() <= 'z';
  }
  return false;
}

}  // namespace

ExpressionKinds::ExpressionKinds(const SyntaxTree& tree) {
  const std::size_t nodes = tree.nodes().size();
  kinds_.reserve(nodes);
  operators_.reserve(nodes);
  builtins_.reserve(nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    const int node = static_cast<int>(i);
    kinds_.push_back(KindNamed(tree.node(node).kind_name));
    operators_.push_back(tree.Operator(node));
    builtins_.push_back(!tree.node(node).type.empty() && IsBuiltinMember(tree.Text(node)));
  }
}

}  // namespace evo
