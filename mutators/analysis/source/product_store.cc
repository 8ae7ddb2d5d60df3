#include "mutators/analysis/source/product_store.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/convolution_parts.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

constexpr std::array kLargerOrSmaller{"fmaxf"sv, "fminf"sv, "fmax"sv, "fmin"sv, "max"sv, "min"sv, "__hmax"sv, "__hmin"sv};
constexpr std::array kComparisons{"<"sv, ">"sv, "<="sv, ">="sv, "=="sv, "!="sv};

bool IsTypeOfReals(std::string_view type) {
  return type.starts_with("float") || type.starts_with("double") || type.starts_with("__half") ||
         type.starts_with("__nv_bfloat16");
}

bool HasReals(const SyntaxTree& tree, int node) {
  for (const int at : Subtree(tree, node)) {
    const std::string& kind = tree.node(at).kind_name;
    if (kind == "FloatingLiteral") return true;
    if (kind != "DeclRefExpr" || tree.node(at).refers_to < 0) continue;
    const std::string type = WithoutConst(tree.node(tree.node(at).refers_to).type);
    // A pointer by itself is compared with another, or says where an element is.
    if (IsTypeOfReals(type) &&
        (type.find('*') == std::string::npos || tree.node(tree.node(at).parent).kind_name == "ArraySubscriptExpr"))
      return true;
  }
  return false;
}

template <typename Names>
bool IsOneOf(std::string_view name, const Names& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool ComparesReals(const SyntaxTree& tree, int node) {
  const std::string& kind = tree.node(node).kind_name;
  if (kind == "BinaryOperator") return IsOneOf(tree.Operator(node), kComparisons) && HasReals(tree, node);
  if (kind != "CallExpr" || tree.node(node).children.empty()) return false;
  return IsOneOf(tree.Text(tree.node(node).children[0]), kLargerOrSmaller) && HasReals(tree, node);
}

bool ComparesRealsBesideStores(const SyntaxTree& tree, int kernel) {
  for (int at = kernel + 1; at < tree.EndOf(kernel);) {
    if (IsStore(tree, at) && PointerAt(tree, Assigned(tree, at)) >= 0) {
      at = tree.EndOf(at);
      continue;
    }
    if (ComparesReals(tree, at)) return true;
    ++at;
  }
  return false;
}

}  // namespace

bool IsSumItself(const SyntaxTree& tree, int variable) {
  const auto& children = tree.node(variable).children;
  if (children.empty()) return true;
  int value = WithoutParentheses(tree, children.back());
  // `T(0)`
  while (tree.node(value).kind_name == "CXXFunctionalCastExpr" && !tree.node(value).children.empty())
    value = WithoutParentheses(tree, tree.node(value).children.back());
  const std::string& kind = tree.node(value).kind_name;
  if (kind == "ArraySubscriptExpr" || kind == "FloatingLiteral" || kind == "IntegerLiteral") return true;
  const int copied = kind == "DeclRefExpr" ? NamedDeclaration(tree, value) : -1;
  return copied >= 0 && tree.node(copied).kind_name == "VarDecl" && IsSumItself(tree, copied);
}

bool IsFolded(const SyntaxTree& tree, int expression) {
  for (const int at : Subtree(tree, expression)) {
    if (tree.node(at).kind_name != "BinaryOperator") continue;
    const std::string_view spelled = tree.Operator(at);
    if (spelled != "%" && spelled != "&" && spelled != "/" && spelled != ">>") continue;
    const std::set<int> named = NamedIn(tree, tree.node(at).children.back());
    if (std::none_of(named.begin(), named.end(), [&](int name) { return tree.node(name).kind_name == "ParmDecl"; })) return true;
  }
  return false;
}

std::string RealThatDecides(const SyntaxTree& tree, int kernel) {
  for (const int node : Subtree(tree, kernel)) {
    const std::string& kind = tree.node(node).kind_name;
    if ((kind != "IfStmt" && kind != "ConditionalOperator") || tree.node(node).children.empty()) continue;
    for (const int named : NamedIn(tree, tree.node(node).children.front())) {
      const std::string type = WithoutConst(tree.node(named).type);
      if (tree.node(named).kind_name == "ParmDecl" && (type == "float" || type == "double")) return tree.node(named).name;
    }
  }
  return "";
}

bool HasDoubles(const SyntaxTree& tree, int kernel) {
  for (const int node : Subtree(tree, kernel)) {
    if (tree.node(node).kind_name == "VarDecl" && WithoutConst(tree.node(node).type).starts_with("double")) return true;
  }
  return false;
}

std::string WhyNotPlain(const SyntaxTree& tree, int kernel) {
  const auto& parameters = tree.node(kernel).children;
  const bool of_doubles = std::any_of(parameters.begin(), parameters.end(), [&](int one) {
    return tree.node(one).kind_name == "ParmDecl" && PointedTo(tree, one) == "double";
  });
  if (!of_doubles && HasDoubles(tree, kernel)) return "it sums up in double what is of another type";
  return ComparesRealsBesideStores(tree, kernel) ? "it compares real numbers" : "";
}

bool IsByte(std::string_view type) { return type == "char" || type == "signed char" || type == "unsigned char"; }

bool SumsInHalf(const SyntaxTree& tree, int kernel) {
  for (const int loop : Subtree(tree, kernel)) {
    if (tree.node(loop).kind_name != "ForStmt") continue;
    for (const int node : Subtree(tree, loop)) {
      const bool adds = tree.node(node).name == "operator+=" || tree.node(node).name == "operator=" || IsAssignment(tree, node);
      const int sum = adds && !tree.node(node).children.empty() ? NamedDeclaration(tree, tree.node(node).children.front()) : -1;
      if (sum < 0 || tree.node(sum).kind_name != "VarDecl" || IsWithin(tree, sum, loop)) continue;
      const std::string type = WithoutConst(tree.node(sum).type);
      if (type.starts_with("__half") || type.starts_with("__nv_bfloat16")) return true;
    }
  }
  return false;
}

bool IsTestedByIf(std::string_view text, const std::string& macro) {
  for (std::size_t at = 0; (at = text.find("#", at)) != std::string_view::npos; ++at) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    const std::string_view word = line.substr(std::min(line.size(), line.find_first_not_of("# ")));
    const bool tests = (word.starts_with("if") || word.starts_with("elif")) && !word.starts_with("ifndef " + macro);
    if (tests && ContainsName(line, macro)) return true;
  }
  return false;
}

bool MayBeProduct(const SyntaxTree& tree, int kernel) {
  int inputs = 0, integers = 0;
  for (const int child : tree.node(kernel).children) {
    const SyntaxNode& parameter = tree.node(child);
    if (parameter.kind_name != "ParmDecl" || parameter.type.find('*') == std::string::npos) continue;
    const std::string type = PointedTo(tree, child);
    inputs += type == "float" || type == "double" || type == "__half" || type == "__nv_bfloat16" || IsByte(type);
    integers += type == "int";
  }
  return inputs >= 3 || (inputs == 2 && integers > 0) || IsOfWords(tree, kernel);
}

bool IsOfWords(const SyntaxTree& tree, int kernel) {
  int words = 0;
  for (const int node : Subtree(tree, kernel)) {
    const std::string& type = tree.node(node).type;
    // What an element is cut off to.
    if (type.find("char") != std::string::npos || type.find("short") != std::string::npos) return false;
    if (tree.node(node).kind_name != "ParmDecl" || type.find('*') == std::string::npos) continue;
    if (PointedTo(tree, node) != "int") return false;
    ++words;
  }
  return words >= 3;
}

}  // namespace evo
