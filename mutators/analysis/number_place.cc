#include "mutators/analysis/number_place.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "mutators/analysis/source_query.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

// Constants made of constants; it ends here.
constexpr int kDepth = 4;

// What passes a number on without asking what it is.
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

// A zero that stands for no address is one only as long as it is zero.
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

// Of the expression that a variable begins with.
bool MayBegin(const SyntaxTree& tree, int variable, int expression, int depth) {
  const SyntaxNode& node = tree.node(variable);
  // What stands in front of the name is of the type.
  if (!IsArithmetic(WithoutConst(node.type)) || node.children.back() != expression) return false;
  const auto tokens = tree.Tokens({tree.node(node.parent).range.begin, tree.node(expression).range.begin});
  if (std::find(tokens.begin(), tokens.end(), "constexpr") != tokens.end() || tokens.empty() || tokens.back() != "=")
    return false;
  if (!node.type.starts_with("const ")) return true;
  // A constant may be what an array's length is made of.
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
    // The function that is called is no place for a number, nor are its template arguments.
    if (around.kind_name == "CallExpr" && around.children.front() == at) return false;
  }
  return false;
}

}  // namespace

bool MayBeAnyNumber(const SyntaxTree& tree, int expression) {
  const int function = tree.node(expression).function;
  if (function < 0 || tree.node(expression).opaque) return false;
  // Whoever calls a function that is evaluated when compiling may need what it returns.
  const SyntaxNode& whole = tree.node(function);
  const SourceRange head{whole.range.begin,
                         whole.children.empty() ? whole.range.end : tree.node(whole.children.back()).range.begin};
  const auto tokens = tree.Tokens(head);
  return std::find(tokens.begin(), tokens.end(), "constexpr") == tokens.end() && IsFreeWithin(tree, expression, kDepth);
}

}  // namespace evo
