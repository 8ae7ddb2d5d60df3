#include "mutators/analysis/source/source_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernel_templates/brought_parameters.h"

namespace evo {

using namespace std::string_view_literals;

std::vector<int> NodesOfKind(const SyntaxTree& tree, std::string_view kind) {
  std::vector<int> found;
  for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
    if (tree.nodes()[i].kind_name == kind) found.push_back(static_cast<int>(i));
  }
  return found;
}

std::vector<int> Functions(const SyntaxTree& tree) {
  std::vector<int> functions;
  for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
    const std::string& kind = tree.nodes()[i].kind_name;
    if (kind == "FunctionDecl" || kind == "FunctionTemplate") functions.push_back(static_cast<int>(i));
  }
  return functions;
}

std::string Quoted(const SyntaxTree& tree, int node) {
  const std::string_view text = tree.Text(node);
  return fmt::format("`{}`", text.substr(0, text.find('\n')));
}

bool IsWithin(const SyntaxTree& tree, int node, int ancestor) {
  while (node >= 0 && node != ancestor) node = tree.node(node).parent;
  return node == ancestor;
}

bool IsKernel(const SyntaxTree& tree, int function) {
  if (function < 0) return false;
  const auto& children = tree.node(function).children;
  const auto has = [&](std::string_view kind) {
    return std::any_of(children.begin(), children.end(), [&](int c) { return tree.node(c).kind_name == kind; });
  };
  return has("attribute(global)") && has("CompoundStmt");
}

int LaunchBoundsOf(const SyntaxTree& tree, int function) {
  const auto& children = tree.node(function).children;
  const auto bounds =
      std::find_if(children.begin(), children.end(), [&](int c) { return tree.Text(c).starts_with("__launch_bounds__"); });
  return bounds == children.end() ? -1 : *bounds;
}

int LastParameter(const SyntaxTree& tree, int function) {
  int last = -1;
  for (const int child : tree.node(function).children) {
    if (tree.node(child).kind_name == "ParmDecl") last = child;
  }
  return last;
}

int WithoutParentheses(const SyntaxTree& tree, int expression) {
  while (tree.node(expression).kind_name == "ParenExpr" && tree.node(expression).children.size() == 1) {
    expression = tree.node(expression).children.front();
  }
  return expression;
}

int NamedDeclaration(const SyntaxTree& tree, int expression) {
  expression = WithoutParentheses(tree, expression);
  return tree.node(expression).kind_name == "DeclRefExpr" ? tree.node(expression).refers_to : -1;
}

std::string_view LibraryCallee(const SyntaxTree& tree, int call) {
  const SyntaxNode& node = tree.node(call);
  if (node.kind_name != "CallExpr" || node.children.empty()) return {};
  const SyntaxNode& callee = tree.node(node.children.front());
  if (callee.kind_name != "DeclRefExpr" || callee.refers_to >= 0) return {};
  return callee.name;
}

bool IsConversion(const SyntaxTree& tree, int expression) {
  const std::string& kind = tree.node(expression).kind_name;
  return kind == "CStyleCastExpr" || kind == "CXXStaticCastExpr" || kind == "CXXFunctionalCastExpr" || kind == "UnexposedExpr";
}

bool IsBlockBarrier(const SyntaxTree& tree, int node) { return LibraryCallee(tree, node) == "__syncthreads"; }

int OnlyStatement(const SyntaxTree& tree, int body) {
  if (tree.node(body).kind_name != "CompoundStmt") return body;
  return tree.node(body).children.size() == 1 ? tree.node(body).children.front() : -1;
}

int PragmaOf(const SyntaxTree& tree, int loop) {
  if (tree.node(loop).parent < 0) return -1;
  const auto& siblings = tree.node(tree.node(loop).parent).children;
  const auto self = std::find(siblings.begin(), siblings.end(), loop);
  if (self == siblings.begin() || self == siblings.end()) return -1;
  return tree.node(*(self - 1)).kind_name == kPragmaKind ? *(self - 1) : -1;
}

int FirstNode(const SyntaxTree& tree, int statement) {
  const int pragma = PragmaOf(tree, statement);
  return pragma >= 0 ? pragma : statement;
}

std::optional<ForLoop> AsForLoop(const SyntaxTree& tree, int node) {
  const SyntaxNode& loop = tree.node(node);
  if (loop.kind_name != "ForStmt") return std::nullopt;
  std::vector<int> parts;
  for (const int child : loop.children) {
    if (tree.node(child).kind_name != kPragmaKind) parts.push_back(child);
  }
  if (parts.size() != 4) return std::nullopt;
  return ForLoop{node, PragmaOf(tree, node), parts[0], parts[1], parts[2], parts[3]};
}

std::optional<ForLoop> AsAnyForLoop(const SyntaxTree& tree, int node) {
  const SyntaxNode& loop = tree.node(node);
  if (loop.kind_name != "ForStmt" || loop.children.empty()) return std::nullopt;
  ForLoop found{node, PragmaOf(tree, node), -1, -1, -1, loop.children.back()};
  std::vector<std::uint32_t> ends;  // where the two `;` of the head are
  int depth = 0;
  for (const std::string_view token : tree.Tokens({loop.range.begin, tree.node(found.body).range.begin})) {
    const bool opens = token == "(" || token == "[" || token == "{", closes = token == ")" || token == "]" || token == "}";
    depth += opens - closes;
    if (token == ";" && depth == 1) ends.push_back(static_cast<std::uint32_t>(token.data() - tree.text().data()));
  }
  if (ends.size() != 2) return std::nullopt;
  for (const int child : loop.children) {
    const SyntaxNode& part = tree.node(child);
    if (part.kind_name == kPragmaKind || child == found.body) continue;
    (part.range.begin < ends[0] ? found.init : part.range.begin < ends[1] ? found.condition : found.increment) = child;
  }
  return found;
}

bool IsInBlock(const SyntaxTree& tree, int statement) {
  const int parent = tree.node(statement).parent;
  return parent >= 0 && tree.node(parent).kind_name == "CompoundStmt";
}

std::string WithoutConst(std::string type) {
  for (const std::string_view word : {"const "sv, "volatile "sv}) {
    if (type.starts_with(word)) type.erase(0, word.size());
  }
  return type;
}

std::string PointedTo(const SyntaxTree& tree, int parameter) {
  const std::string& type = tree.node(parameter).type;
  std::string pointee = WithoutConst(type.substr(0, type.find_first_of("*[")));
  while (!pointee.empty() && pointee.back() == ' ') pointee.pop_back();
  return pointee;
}

bool IsArithmetic(std::string_view type) {
  constexpr std::array kTypes{"float"sv, "double"sv,        "int"sv,       "unsigned int"sv,
                              "long"sv,  "unsigned long"sv, "long long"sv, "unsigned long long"sv,
                              "short"sv, "unsigned short"sv};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

bool IsIntegerType(const std::string& type) {
  const std::string plain = WithoutConst(type);
  return IsArithmetic(plain) && plain != "float" && plain != "double";
}

std::string IndentOf(const SyntaxTree& tree, int node) {
  const std::string& text = tree.text();
  const int parent = tree.node(node).parent;
  const bool is_body =
      parent >= 0 && tree.node(node).kind_name == "CompoundStmt" && tree.node(parent).kind_name.starts_with("Function");
  std::size_t line = tree.node(is_body ? parent : node).range.begin;
  while (line > 0 && text[line - 1] != '\n') --line;
  const std::size_t first = text.find_first_not_of(" \t", line);
  return text.substr(line, std::min(first, text.size()) - line);
}

std::string LineBefore(const SyntaxTree& tree, int statement, const std::string& line) {
  const std::string indent = IndentOf(tree, statement);
  const std::string present = IndentOf(tree, FirstNode(tree, statement));  // a pragma often stands at the margin
  const std::string missing = indent.size() > present.size() ? indent.substr(present.size()) : "";
  return fmt::format("{}{}\n{}", missing, line, present);
}

namespace {

std::string CodeIn(std::string_view text) {
  std::string code;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("//")) {
      at = std::min(text.find('\n', at), text.size());
    } else if (rest.starts_with("/*")) {
      const std::size_t end = text.find("*/", at + 2);
      at = end == std::string_view::npos ? text.size() : end + 2;
    } else {
      code += text[at++];
    }
  }
  constexpr std::string_view kDefine = "#define ";
  for (std::size_t at = code.find(kDefine); at != std::string::npos; at = code.find(kDefine, at)) {
    std::size_t end = code.find('\n', at);
    while (end != std::string::npos && code[end - 1] == '\\') end = code.find('\n', end + 1);
    end = std::min(end, code.size());
    const std::size_t name = at + kDefine.size();
    const std::string macro = code.substr(name, code.find_first_of(" \t\n(", name) - name);
    if (ContainsName(code.substr(0, at), macro) || ContainsName(code.substr(end), macro))
      at = end;
    else
      code.erase(at, end - at);
  }
  return code;
}

}  // namespace

const std::string& CodeOf(const SyntaxTree& tree) {
  return tree.Kept<std::string>("code", [&] { return CodeIn(tree.text()); });
}

std::string FreshName(const SyntaxTree& tree, const std::string& wanted) {
  if (tree.text().find(wanted) == std::string::npos) return wanted;  // the usual case
  const auto tokens = tree.Tokens(tree.node(0).range);
  std::string name = wanted;
  for (int number = 2; std::find(tokens.begin(), tokens.end(), name) != tokens.end(); ++number)
    name = fmt::format("{}_{}", wanted, number);
  return name;
}

std::string Parenthesised(const SyntaxTree& tree, int expression) {
  constexpr std::array kOperators{"BinaryOperator"sv, "CompoundAssignOperator"sv, "ConditionalOperator"sv, "UnaryOperator"sv,
                                  "CStyleCastExpr"sv};
  const std::string text(tree.Text(expression));
  const bool leaf = tree.Tokens(tree.node(expression).range).size() == 1;
  const bool is_operator = std::find(kOperators.begin(), kOperators.end(), tree.node(expression).kind_name) != kOperators.end();
  return is_operator && !leaf ? fmt::format("({})", text) : text;
}

std::string Parenthesised(const std::string& expression) {
  return Tokenize(expression).size() == 1 ? expression : fmt::format("({})", expression);
}

bool CallsExponential(std::string_view text) {
  for (auto at = text.find("exp"); at != std::string_view::npos; at = text.find("exp", at + 1)) {
    const auto behind = text.find_first_not_of("f012", at + 3);
    if (behind != std::string_view::npos && text[behind] == '(') return true;
  }
  return false;
}

}  // namespace evo
