#include "mutators/analysis/source/number_place.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

// Bounds how deep constants are followed through other constants.
constexpr int kNumberDepth = 4;

// Expressions that accept any value of an operand.
constexpr std::array kOperations{
    "ParenExpr"sv,          "UnaryOperator"sv,     "BinaryOperator"sv,        "CompoundAssignOperator"sv,
    "CStyleCastExpr"sv,     "CXXStaticCastExpr"sv, "CXXFunctionalCastExpr"sv, "ConditionalOperator"sv,
    "ArraySubscriptExpr"sv, "CallExpr"sv,          "MemberRefExpr"sv,         "UnexposedExpr"sv};
constexpr std::array kStatements{"CompoundStmt"sv, "ForStmt"sv, "WhileStmt"sv, "DoStmt"sv, "ReturnStmt"sv};

template <typename Names>
bool IsOneOf(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsPointer(std::string_view type) { return type.find('*') != std::string_view::npos; }

// Whether an operand may be a null pointer constant, which only a zero can be.
bool MeetsAddress(const SyntaxTree& tree, int operation, int operand) {
  const SyntaxNode& node = tree.node(operation);
  if (node.kind_name == "ArraySubscriptExpr" || node.kind_name == "MemberRefExpr") return false;
  if (node.kind_name == "CallExpr") return tree.Text(operand) == "0";
  const std::string_view spelled = tree.Operator(operation);
  const bool steps = spelled == "+" || spelled == "-" || spelled == "+=" || spelled == "-=";
  if (steps) return false;
  if (IsPointer(node.type)) return true;
  return std::any_of(node.children.begin(), node.children.end(), [&](int part) { return IsPointer(tree.node(part).type); });
}

bool IsFreeWithin(const SyntaxTree& tree, int node, int depth);

// Whether the initialiser of a variable may have any value.
bool MayBegin(const SyntaxTree& tree, int variable, int expression, int depth) {
  const SyntaxNode& node = tree.node(variable);
  // An expression before the variable's name is part of the type.
  if (!IsArithmetic(WithoutConst(node.type)) || node.children.back() != expression) return false;
  const auto tokens = tree.Tokens({tree.node(node.parent).range.begin, tree.node(expression).range.begin});
  if (std::find(tokens.begin(), tokens.end(), "constexpr") != tokens.end() || tokens.empty() || tokens.back() != "=")
    return false;
  if (!node.type.starts_with("const ")) return true;
  // The extent of an array may depend on a constant, so all uses of the constant must accept any value, too.
  const auto& uses = tree.UsesOf(variable);
  return depth > 0 && std::all_of(uses.begin(), uses.end(), [&](int use) {
           return tree.node(use).kind_name == "DeclRefExpr" && tree.node(use).hidden.empty() &&
                  IsFreeWithin(tree, use, depth - 1);
         });
}

bool IsFreeWithin(const SyntaxTree& tree, int node, int depth) {
  for (int at = node, parent = tree.node(at).parent; parent >= 0; at = parent, parent = tree.node(at).parent) {
    const SyntaxNode& around = tree.node(parent);
    if (around.opaque) return false;
    if (IsOneOf(kStatements, around.kind_name)) return true;
    if (around.kind_name == "IfStmt")
      return tree.Text({around.range.begin, tree.node(at).range.begin}).find("constexpr") == std::string_view::npos;
    if (around.kind_name == "VarDecl") return MayBegin(tree, parent, at, depth);
    if (!IsOneOf(kOperations, around.kind_name) || MeetsAddress(tree, parent, at)) return false;
    // The name and the template arguments of the called function must stay.
    if (around.kind_name == "CallExpr" && around.children.front() == at) return false;
  }
  return false;
}

}  // namespace

bool MayBeAnyNumber(const SyntaxTree& tree, int expression) {
  const int function = tree.node(expression).function;
  if (function < 0 || tree.node(expression).opaque) return false;
  // A caller of a constexpr function may need its result as a constant.
  const SyntaxNode& whole = tree.node(function);
  const SourceRange head{whole.range.begin,
                         whole.children.empty() ? whole.range.end : tree.node(whole.children.back()).range.begin};
  const auto tokens = tree.Tokens(head);
  return std::find(tokens.begin(), tokens.end(), "constexpr") == tokens.end() && IsFreeWithin(tree, expression, kNumberDepth);
}

}  // namespace evo
