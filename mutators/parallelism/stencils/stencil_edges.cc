#include "mutators/parallelism/stencils/stencil_edges.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>

#include "mutators/analysis/source/convolution_parts.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/parallelism/stencils/stencil_freedom.h"

namespace evo {
namespace {

// The comparison that holds where another one does not; empty for other operators.
std::string_view Opposite(std::string_view spelled) {
  constexpr std::string_view kOpposites[][2] = {{"==", "!="}, {"<", ">="}, {">", "<="}};
  for (const auto& [one, other] : kOpposites) {
    if (spelled == one) return other;
    if (spelled == other) return one;
  }
  return "";
}

}  // namespace

std::optional<StencilEdges> StencilEdgeFinder::Find(int condition, bool negated) {
  edges_ = {};
  if (!Add(condition, negated, StencilFreedom::kDepth)) return std::nullopt;
  return edges_;
}

bool StencilEdgeFinder::Add(int condition, bool negated, int depth) {
  condition = WithoutParentheses(tree_, condition);
  const SyntaxNode& node = tree_.node(condition);
  const std::string_view spelled = tree_.Operator(condition);
  if (depth == 0) return false;
  if (spelled == (negated ? "&&" : "||")) return Add(node.children[0], negated, depth) && Add(node.children[1], negated, depth);
  if (spelled == "!" && node.children.size() == 1) return Add(node.children[0], !negated, depth);
  const int name = NamedDeclaration(tree_, condition);
  if (name >= 0 && tree_.node(name).kind_name == "VarDecl" && !WrittenIn(tree_, found_.kernel).contains(name) &&
      tree_.node(name).function >= 0 && !found_.roles.contains(name) && !tree_.node(name).children.empty())
    return Add(tree_.node(name).children.back(), negated, depth - 1);
  return AddPart(condition, negated);
}

bool StencilEdgeFinder::Replace(int expression, Replacements& replaced, std::vector<std::size_t>& axes, int depth) const {
  if (depth == 0 || !IsPure(tree_, expression) || LoadsIn(tree_, expression)) return false;
  const std::set<int> written = WrittenIn(tree_, found_.kernel);
  const auto is_same = [&](int declaration) {
    const SyntaxNode& declared = tree_.node(declaration);
    return declared.kind_name == "ParmDecl" || declared.function < 0 ||
           std::find(statements_.common().begin(), statements_.common().end(), declared.parent) != statements_.common().end();
  };
  for (const int node : Subtree(tree_, expression)) {
    // What a macro names cannot be replaced.
    const auto& hidden = tree_.node(node).hidden;
    if (!std::all_of(hidden.begin(), hidden.end(), is_same)) return false;
    const int name = NamedDeclaration(tree_, node);
    if (name < 0 || tree_.node(node).kind_name != "DeclRefExpr") continue;
    const SyntaxNode& declared = tree_.node(name);
    if (const auto role = found_.roles.find(name); role != found_.roles.end()) {
      const auto [axis, shift] = role->second;
      if (!role->second.IsCoordinate()) return false;
      axes.push_back(axis);
      std::string text = names_.Coordinate(axis);
      if (shift != 0) text += fmt::format(" {} {}", shift < 0 ? "-" : "+", std::abs(shift));
      const std::string type = WithoutConst(declared.type);
      if (type != "int")
        text = fmt::format("({}){}", type, Parenthesised(text));
      else if (shift != 0)
        text = Parenthesised(text);
      replaced.emplace_back(node, text);
      continue;
    }
    if (is_same(name)) continue;
    if (declared.kind_name != "VarDecl" || declared.children.empty() || written.contains(name)) return false;
    Replacements inner;
    const int initial = declared.children.back();
    if (!Replace(initial, inner, axes, depth - 1)) return false;
    replaced.emplace_back(node, fmt::format("({})({})", WithoutConst(declared.type), TextWith(tree_, initial, inner)));
  }
  return true;
}

// Adds a condition that is not taken apart any more.
bool StencilEdgeFinder::AddPart(int condition, bool negated) {
  Replacements replaced;
  std::vector<std::size_t> axes;
  if (!Replace(condition, replaced, axes, StencilFreedom::kDepth)) return false;
  const std::size_t last = found_.dimensions - 1;
  const bool of_walk = std::find(axes.begin(), axes.end(), last) != axes.end();
  if (of_walk && std::any_of(axes.begin(), axes.end(), [&](std::size_t axis) { return axis != last; })) return false;
  std::string text = TextWith(tree_, condition, replaced);
  if (negated) {
    const std::string_view opposite = Opposite(tree_.Operator(condition));
    const auto& sides = tree_.node(condition).children;
    text = opposite.empty()
               ? fmt::format("!({})", text)
               : fmt::format("{} {} {}", TextWith(tree_, sides[0], replaced), opposite, TextWith(tree_, sides[1], replaced));
  } else if (tree_.Operator(condition) == "&&") {
    text = Parenthesised(text);
  }
  if (text.find('?') != std::string::npos) text = Parenthesised(text);
  (of_walk ? edges_.of_walk : edges_.of_thread).push_back(text);
  return true;
}

}  // namespace evo
