#include "mutators/syntax_queries.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace evo {

std::vector<int> NodesOfKind(const SyntaxTree& tree, std::string_view kind_name) {
  std::vector<int> found;
  for (int i = 0; i < static_cast<int>(tree.nodes().size()); ++i) {
    if (tree.node(i).kind_name == kind_name) found.push_back(i);
  }
  return found;
}

std::vector<int> Kernels(const SyntaxTree& tree) {
  std::vector<int> found;
  for (int i = 0; i < static_cast<int>(tree.nodes().size()); ++i) {
    const std::string& kind = tree.node(i).kind_name;
    if (kind != "FunctionDecl" && kind != "FunctionTemplate") continue;
    const std::string_view text = tree.Text(i);
    const std::size_t body = text.find('{');
    if (body != std::string_view::npos && text.substr(0, body).find("__global__") != std::string_view::npos) found.push_back(i);
  }
  return found;
}

std::set<std::string> NamesIn(std::string_view text) {
  std::set<std::string> names;
  const std::string tokens = SpelledTokens(text);
  for (std::size_t i = 0; i < tokens.size();) {
    const auto c = static_cast<unsigned char>(tokens[i]);
    std::size_t end = i + 1;
    if (std::isalpha(c) || c == '_') {
      while (end < tokens.size() && (std::isalnum(static_cast<unsigned char>(tokens[end])) || tokens[end] == '_')) ++end;
      names.insert(tokens.substr(i, end - i));
    } else if (std::isdigit(c)) {  // the suffix of a number is no name
      while (end < tokens.size() && (std::isalnum(static_cast<unsigned char>(tokens[end])) || tokens[end] == '.')) ++end;
    }
    i = end;
  }
  return names;
}

std::set<std::string> NamesWritten(const SyntaxTree& tree, int node) {
  std::set<std::string> names;
  std::vector<int> nodes = tree.Descendants(node);
  nodes.push_back(node);
  for (const int i : nodes) {
    const SyntaxNode& n = tree.node(i);
    const bool assigns = n.kind_name == "CompoundAssignOperator" || (n.kind_name == "BinaryOperator" && OperatorOf(tree, i) == "=");
    const bool steps = n.kind_name == "UnaryOperator" && tree.Text(i).find("++") + tree.Text(i).find("--") != 2 * std::string_view::npos;
    if (n.kind_name == "VarDecl") names.insert(n.name);
    if ((assigns || steps) && !n.children.empty()) {
      // Every name on the left counts: `*p++ = x` writes p and what it points to.
      for (const std::string& name : NamesIn(tree.Text(n.children.front()))) names.insert(name);
    }
    if (n.kind_name == "UnaryOperator" && tree.Text(i).substr(0, 1) == "&") {
      for (const std::string& name : NamesIn(tree.Text(i))) names.insert(name);  // its address may be written through
    }
  }
  return names;
}

bool HasOrderedEffect(const SyntaxTree& tree, int node) {
  std::vector<int> nodes = tree.Descendants(node);
  nodes.push_back(node);
  return std::any_of(nodes.begin(), nodes.end(), [&](int i) {
    const std::string& kind = tree.node(i).kind_name;
    static constexpr std::array<std::string_view, 6> kJumps{"ReturnStmt", "BreakStmt", "ContinueStmt", "GotoStmt", "LabelStmt", "GCCAsmStmt"};
    if (std::find(kJumps.begin(), kJumps.end(), kind) != kJumps.end()) return true;
    return kind == "CallExpr" && tree.node(i).type == "void";
  });
}

bool StartsItsLine(const SyntaxTree& tree, int node) {
  const std::string& text = tree.text();
  std::uint32_t at = tree.node(node).range.begin;
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t')) --at;
  return at == 0 || text[at - 1] == '\n';
}

std::string IndentOf(const SyntaxTree& tree, int node) {
  const std::string& text = tree.text();
  const std::uint32_t begin = tree.node(node).range.begin;
  std::uint32_t line = begin;
  while (line > 0 && text[line - 1] != '\n') --line;
  std::uint32_t end = line;
  while (end < begin && (text[end] == ' ' || text[end] == '\t')) ++end;
  return text.substr(line, end - line);
}

std::optional<SourceRange> DirectiveAbove(const SyntaxTree& tree, int node) {
  if (!StartsItsLine(tree, node)) return std::nullopt;
  const std::string& text = tree.text();
  std::uint32_t line = tree.node(node).range.begin;
  while (line > 0 && text[line - 1] != '\n') --line;
  if (line == 0) return std::nullopt;
  const std::uint32_t end = line - 1;
  std::uint32_t begin = end;
  while (begin > 0 && text[begin - 1] != '\n') --begin;
  const std::size_t first = text.find_first_not_of(" \t", begin);
  if (first >= end || text[first] != '#') return std::nullopt;
  return SourceRange{begin, end};
}

std::string OperatorOf(const SyntaxTree& tree, int node) {
  const std::vector<int>& children = tree.node(node).children;
  if (children.size() != 2) return "";
  const std::uint32_t begin = tree.node(children[0]).range.end;
  const std::uint32_t end = tree.node(children[1]).range.begin;
  return begin < end ? SpelledTokens(std::string_view(tree.text()).substr(begin, end - begin)) : "";
}

int Unwrapped(const SyntaxTree& tree, int node) {
  while (node >= 0 && tree.node(node).kind_name == "UnexposedExpr" && tree.node(node).children.size() == 1) node = tree.node(node).children.front();
  return node;
}

}  // namespace evo
