#include "mutators/analysis/source/shared_array.h"

#include <algorithm>
#include <charconv>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {

bool IsShared(const SyntaxTree& tree, int variable) {
  const auto& children = tree.node(variable).children;
  return std::any_of(children.begin(), children.end(), [&](int c) { return tree.node(c).kind_name == "attribute(shared)"; });
}

bool IsConstantMemory(const SyntaxTree& tree, int variable) {
  const auto& children = tree.node(variable).children;
  return std::any_of(children.begin(), children.end(), [&](int c) { return tree.node(c).kind_name == "attribute(constant)"; });
}

bool IsDeviceVariable(const SyntaxTree& tree, int variable) {
  const auto& children = tree.node(variable).children;
  const auto is_device = [&](int child) { return tree.node(child).kind_name == "attribute(device)"; };
  return std::any_of(children.begin(), children.end(), is_device) && !IsConstantMemory(tree, variable) &&
         !tree.node(variable).type.starts_with("const ");
}

int SharedArrayOf(const SyntaxTree& tree, int expression) {
  const int node = WithoutParentheses(tree, expression);
  const bool element = tree.node(node).kind_name == "ArraySubscriptExpr" && tree.node(node).children.size() == 2;
  const int variable = NamedDeclaration(tree, element ? tree.node(node).children.front() : node);
  if (variable < 0 || tree.node(variable).kind_name != "VarDecl" || !IsShared(tree, variable)) return -1;
  return element == tree.node(variable).type.ends_with("]") ? variable : -1;
}

int WithoutRows(const SyntaxTree& tree, int expression) {
  int node = WithoutParentheses(tree, expression);
  const auto is_subscript = [&](int at) {
    return tree.node(at).kind_name == "ArraySubscriptExpr" && tree.node(at).children.size() == 2;
  };
  while (is_subscript(node)) {
    const int row = WithoutParentheses(tree, tree.node(node).children.front());
    if (!is_subscript(row)) break;
    node = row;
  }
  return node;
}

std::vector<long long> ExtentsOf(const std::string& type) {
  std::vector<long long> extents;
  for (std::size_t at = type.find('['); at != std::string::npos; at = type.find('[', at + 1)) {
    long long extent = 0;
    const auto read = std::from_chars(type.data() + at + 1, type.data() + type.size(), extent);
    extents.push_back(read.ec == std::errc{} ? extent : 0);
  }
  return extents;
}

std::optional<Extent> LastExtent(const SyntaxTree& tree, int variable) {
  const std::string_view text = tree.Text(variable);
  const std::size_t open = text.rfind('[');
  if (open == std::string_view::npos) return std::nullopt;
  for (const int child : tree.node(variable).children) {
    if (tree.node(child).range.begin != tree.node(variable).range.begin + open + 1) continue;
    Extent extent{child, std::string(tree.Text(child)), 0};
    const SyntaxNode& sum = tree.node(child);
    if (tree.Operator(child) == "+" && tree.node(sum.children[1]).kind_name == "IntegerLiteral") {
      const std::string_view pad = tree.Text(sum.children[1]);
      const auto read = std::from_chars(pad.data(), pad.data() + pad.size(), extent.pad);
      if (read.ec == std::errc{} && read.ptr == pad.data() + pad.size()) {
        extent.text = tree.Text(sum.children[0]);
      } else {
        extent.pad = 0;
      }
    }
    return extent;
  }
  return std::nullopt;
}

std::optional<std::vector<int>> ElementsOf(const SyntaxTree& tree, int variable, std::size_t dimensions) {
  std::vector<int> elements;
  for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
    const SyntaxNode& use = tree.nodes()[i];
    if (std::find(use.hidden.begin(), use.hidden.end(), variable) != use.hidden.end()) return std::nullopt;
    if (use.kind_name != "DeclRefExpr" || use.refers_to != variable) continue;
    int element = static_cast<int>(i);
    for (std::size_t d = 0; d < dimensions; ++d) {
      const int parent = tree.node(element).parent;
      if (tree.node(parent).kind_name != "ArraySubscriptExpr" || tree.node(parent).children.front() != element)
        return std::nullopt;
      element = parent;
    }
    const int parent = tree.node(element).parent;
    const bool written = IsAssignment(tree, parent) && tree.node(parent).children.front() == element;
    if (!tree.node(element).converted && !written) return std::nullopt;
    elements.push_back(element);
  }
  return elements;
}

}  // namespace evo
