#include "core/expression_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.h"
#include "core/expression_lexer.h"

namespace evo {
namespace {

// The deepest nesting. Deeper nesting is a mistake or an attack, and might exhaust the stack.
constexpr int kMostNesting = 200;
// The longest expression. The tree of a chain such as a + a + ... is as deep as the chain is long.
constexpr std::size_t kMostCharacters = 4096;

// Binary operators and their precedence, as in C. A higher number binds tighter.
constexpr std::array<std::pair<std::string_view, int>, 18> kBinary{{
    {"||", 1},
    {"&&", 2},
    {"|", 3},
    {"^", 4},
    {"&", 5},
    {"==", 6},
    {"!=", 6},
    {"<", 7},
    {"<=", 7},
    {">", 7},
    {">=", 7},
    {"<<", 8},
    {">>", 8},
    {"+", 9},
    {"-", 9},
    {"*", 10},
    {"/", 10},
    {"%", 10},
}};

constexpr std::array<std::pair<std::string_view, std::size_t>, 7> kFunctions{
    {{"ceil_div", 2}, {"ceil_log", 2}, {"max", 2}, {"min", 2}, {"power", 2}, {"sqrt", 1}, {"trunc", 1}}};

int BindingOf(std::string_view op) {
  const auto row = std::find_if(kBinary.begin(), kBinary.end(), [&](const auto& r) { return r.first == op; });
  return row == kBinary.end() ? 0 : row->second;
}

// A recursive-descent parser. From the loosest to the tightest: conditional, binary operators by precedence, unary, primary.
class Parser {
  using Node = ExpressionNode;
  using Kind = Node::Kind;

 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Node Whole() {
    Node node = Conditional();
    if (!token().text.empty()) lexer_.Fail(token().column, fmt::format("'{}' was not expected", token().text));
    return node;
  }

 private:
  const ExpressionToken& token() const { return lexer_.token(); }

  bool Accept(std::string_view text) {
    if (token().text != text) return false;
    lexer_.Advance();
    return true;
  }

  void Expect(std::string_view text) {
    if (Accept(text)) return;
    const std::string found = token().text.empty() ? "the end" : fmt::format("'{}'", token().text);
    lexer_.Fail(token().column, fmt::format("'{}' expected, found {}", text, found));
  }

  Node Conditional() {
    const Nesting nesting(*this);
    Node condition = Binary(1);
    const std::size_t column = token().column;
    if (!Accept("?")) return condition;
    Node yes = Conditional();
    Expect(":");
    Node no = Conditional();
    return {Kind::kConditional, "?", {}, column, {std::move(condition), std::move(yes), std::move(no)}};
  }

  Node Binary(int least) {
    Node left = Unary();
    for (int binding = BindingOf(token().text); binding >= least && binding > 0; binding = BindingOf(token().text)) {
      std::string op(token().text);
      const std::size_t column = token().column;
      lexer_.Advance();
      Node right = Binary(binding + 1);
      left = Node{Kind::kBinary, std::move(op), {}, column, {std::move(left), std::move(right)}};
    }
    return left;
  }

  Node Unary() {
    const Nesting nesting(*this);
    const std::size_t column = token().column;
    for (const std::string_view op : {"+", "-", "!", "~"}) {
      if (Accept(op)) return {Kind::kUnary, std::string(op), {}, column, {Unary()}};
    }
    return Primary();
  }

  Node Primary() {
    const ExpressionToken first = token();
    if (Accept("(")) {
      Node inner = Conditional();
      Expect(")");
      return inner;
    }
    if (first.kind == ExpressionToken::Kind::kNumber) {
      lexer_.Advance();
      return {Kind::kNumber, {}, first.number, first.column, {}};
    }
    if (first.kind != ExpressionToken::Kind::kName) {
      const std::string found = first.text.empty() ? "the end" : fmt::format("'{}'", first.text);
      lexer_.Fail(first.column, fmt::format("a value expected, found {}", found));
    }
    lexer_.Advance();
    if (Accept("(")) return Call(first);
    return {Kind::kName, std::string(first.text), {}, first.column, {}};
  }

  Node Call(const ExpressionToken& name) {
    const auto function = std::find_if(kFunctions.begin(), kFunctions.end(), [&](const auto& f) { return f.first == name.text; });
    if (function == kFunctions.end()) {
      lexer_.Fail(name.column,
                  fmt::format("no function '{}'; there are ceil_div, ceil_log, max, min, power, sqrt, trunc", name.text));
    }
    Node call{Kind::kCall, std::string(name.text), {}, name.column, {}};
    do {
      call.operands.push_back(Conditional());
    } while (Accept(","));
    Expect(")");
    if (call.operands.size() != function->second) {
      lexer_.Fail(name.column, fmt::format("{} takes {} values, not {}", name.text, function->second, call.operands.size()));
    }
    return call;
  }

  // Counts the depth of the recursion during its lifetime.
  struct Nesting {
    explicit Nesting(Parser& p) : parser(p) {
      if (++parser.depth_ > kMostNesting) parser.lexer_.Fail(parser.token().column, "nested too deeply");
    }
    ~Nesting() { --parser.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    Parser& parser;
  };

  ExpressionLexer lexer_;
  int depth_ = 0;
};

}  // namespace

ExpressionNode ParseExpression(std::string_view text) {
  if (text.size() > kMostCharacters) {
    throw Error(fmt::format("expression '{}...': longer than {} characters", text.substr(0, 40), kMostCharacters));
  }
  return Parser(text).Whole();
}

}  // namespace evo
