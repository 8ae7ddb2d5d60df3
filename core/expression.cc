#include "core/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/expression_lexer.h"

namespace evo {
namespace {

// Deeper nesting is a mistake or an attack; recursion stays far from the stack's end.
constexpr int kMostNesting = 200;
// A chain such as a + a + ... makes a tree as deep as it is long.
constexpr std::size_t kMostCharacters = 4096;

// Binary operators by binding strength, as in C; higher binds tighter.
constexpr std::array<std::pair<std::string_view, int>, 18> kBinary{{
    {"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5}, {"==", 6}, {"!=", 6}, {"<", 7}, {"<=", 7},
    {">", 7},  {">=", 7}, {"<<", 8}, {">>", 8}, {"+", 9}, {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
}};

constexpr std::array<std::pair<std::string_view, std::size_t>, 4> kFunctions{{{"ceil_div", 2}, {"max", 2}, {"min", 2}, {"sqrt", 1}}};

int BindingOf(std::string_view op) {
  const auto row = std::find_if(kBinary.begin(), kBinary.end(), [&](const auto& r) { return r.first == op; });
  return row == kBinary.end() ? 0 : row->second;
}

}  // namespace

struct Expression::Node {
  enum class Kind { kNumber, kName, kUnary, kBinary, kCall, kConditional };
  Kind kind = Kind::kNumber;
  std::string word;              // name, operator or function
  Number number;
  std::size_t column = 1;
  std::vector<Node> operands;
};

namespace {

// Grammar, loosest first: conditional, the binary operators by strength, unary, primary.
template <typename Node>
class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Node Whole() {
    Node node = Conditional();
    if (!token().text.empty()) lexer_.Fail(token().column, fmt::format("'{}' was not expected", token().text));
    return node;
  }

 private:
  using Kind = typename Node::Kind;

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
      lexer_.Fail(name.column, fmt::format("no function '{}'; there are ceil_div, max, min, sqrt", name.text));
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

  // Counts the depth of the recursion while it lives.
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

bool IsTrue(const Number& value) { return value.is_real ? value.real != 0 : value.integer != 0; }

// Evaluates the nodes of one expression.
class Interpreter {
 public:
  Interpreter(const std::string& text, const Variables& variables) : text_(text), variables_(variables) {}

  template <typename Node>
  Number Value(const Node& node) const {
    switch (node.kind) {
      case Node::Kind::kNumber: return node.number;
      case Node::Kind::kName: return Lookup(node.word, node.column);
      case Node::Kind::kUnary: return Unary(node.word, Value(node.operands[0]), node.column);
      case Node::Kind::kConditional: return Value(node.operands[IsTrue(Value(node.operands[0])) ? 1 : 2]);
      case Node::Kind::kCall:
      case Node::Kind::kBinary: break;
    }
    const Number left = Value(node.operands[0]);
    if (node.word == "sqrt") return Root(left, node.column);
    if (node.word == "&&" && !IsTrue(left)) return Number::Integer(0);
    if (node.word == "||" && IsTrue(left)) return Number::Integer(1);
    const Number right = Value(node.operands[1]);
    if (node.word == "&&" || node.word == "||") return Number::Integer(IsTrue(right) ? 1 : 0);
    if (left.is_real || right.is_real) return Real(node.word, left.AsReal(), right.AsReal(), node.column);
    return Integer(node.word, left.integer, right.integer, node.column);
  }

 private:
  [[noreturn]] void Fail(std::size_t column, std::string_view what) const {
    throw Error(fmt::format("expression '{}', column {}: {}", text_, column, what));
  }

  Number Lookup(const std::string& name, std::size_t column) const {
    const auto variable = variables_.find(name);
    if (variable == variables_.end()) Fail(column, fmt::format("nothing is named '{}'", name));
    return variable->second;
  }

  Number Root(const Number& value, std::size_t column) const {
    if (value.AsReal() < 0) Fail(column, "square root of a negative number");
    return Number::Real(std::sqrt(value.AsReal()));
  }

  Number Unary(std::string_view op, const Number& value, std::size_t column) const {
    if (op == "+") return value;
    if (op == "!") return Number::Integer(IsTrue(value) ? 0 : 1);
    if (op == "~") {
      if (value.is_real) Fail(column, "'~' takes an integer, not a real number");
      return Number::Integer(~value.integer);
    }
    if (value.is_real) return Number::Real(-value.real);
    if (value.integer == std::numeric_limits<std::int64_t>::min()) Fail(column, "integer overflow");
    return Number::Integer(-value.integer);
  }

  Number Real(std::string_view op, double a, double b, std::size_t column) const {
    if (op == "==") return Number::Integer(a == b);
    if (op == "!=") return Number::Integer(a != b);
    if (op == "<") return Number::Integer(a < b);
    if (op == "<=") return Number::Integer(a <= b);
    if (op == ">") return Number::Integer(a > b);
    if (op == ">=") return Number::Integer(a >= b);
    if (op == "min") return Number::Real(std::min(a, b));
    if (op == "max") return Number::Real(std::max(a, b));
    double result = 0;
    if (op == "+") {
      result = a + b;
    } else if (op == "-") {
      result = a - b;
    } else if (op == "*") {
      result = a * b;
    } else if (op == "/" || op == "ceil_div") {
      if (b == 0) Fail(column, "division by zero");
      result = op == "/" ? a / b : std::ceil(a / b);
    } else {
      Fail(column, fmt::format("'{}' takes integers, not a real number", op));
    }
    if (!std::isfinite(result)) Fail(column, "the result is too large for a real number");
    return Number::Real(result);
  }

  Number Integer(std::string_view op, std::int64_t a, std::int64_t b, std::size_t column) const {
    if (op == "==") return Number::Integer(a == b);
    if (op == "!=") return Number::Integer(a != b);
    if (op == "<") return Number::Integer(a < b);
    if (op == "<=") return Number::Integer(a <= b);
    if (op == ">") return Number::Integer(a > b);
    if (op == ">=") return Number::Integer(a >= b);
    if (op == "min") return Number::Integer(std::min(a, b));
    if (op == "max") return Number::Integer(std::max(a, b));
    if (op == "|") return Number::Integer(a | b);
    if (op == "^") return Number::Integer(a ^ b);
    if (op == "&") return Number::Integer(a & b);
    if (op == "<<" || op == ">>") return Shift(op, a, b, column);
    if (op == "/" || op == "%" || op == "ceil_div") return Divide(op, a, b, column);
    std::int64_t result = 0;
    const bool overflow = op == "+"   ? __builtin_add_overflow(a, b, &result)
                          : op == "-" ? __builtin_sub_overflow(a, b, &result)
                                      : __builtin_mul_overflow(a, b, &result);
    if (overflow) Fail(column, "integer overflow");
    return Number::Integer(result);
  }

  Number Shift(std::string_view op, std::int64_t a, std::int64_t b, std::size_t column) const {
    if (b < 0 || b > 63) Fail(column, fmt::format("shift by {}; 0 to 63 is possible", b));
    if (op == ">>") return Number::Integer(a >> b);
    const std::int64_t result = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << b);
    if (result >> b != a) Fail(column, "integer overflow");
    return Number::Integer(result);
  }

  Number Divide(std::string_view op, std::int64_t a, std::int64_t b, std::size_t column) const {
    if (b == 0) Fail(column, "division by zero");
    if (b == -1 && a == std::numeric_limits<std::int64_t>::min()) Fail(column, "integer overflow");
    if (op == "%") return Number::Integer(a % b);
    const bool rounds_up = op == "ceil_div" && a % b != 0 && (a < 0) == (b < 0);
    return Number::Integer(a / b + (rounds_up ? 1 : 0));
  }

  const std::string& text_;
  const Variables& variables_;
};

template <typename Node>
void CollectNames(const Node& node, std::set<std::string>& names) {
  if (node.kind == Node::Kind::kName) names.insert(node.word);
  for (const Node& operand : node.operands) CollectNames(operand, names);
}

}  // namespace

Expression Expression::Parse(std::string_view text) {
  if (text.size() > kMostCharacters) {
    throw Error(fmt::format("expression '{}...': longer than {} characters", text.substr(0, 40), kMostCharacters));
  }
  Expression expression;
  expression.text_ = text;
  // The lexer's views point into text_, which outlives it.
  expression.root_ = std::make_shared<const Node>(Parser<Node>(expression.text_).Whole());
  return expression;
}

Number Expression::Evaluate(const Variables& variables) const { return Interpreter(text_, variables).Value(*root_); }

std::int64_t Expression::EvaluateInteger(const Variables& variables) const {
  const Number value = Evaluate(variables);
  if (value.is_real) throw Error(fmt::format("expression '{}': an integer is wanted, and this is {}", text_, value.real));
  return value.integer;
}

std::vector<std::string> Expression::Names() const {
  std::set<std::string> names;
  CollectNames(*root_, names);
  return {names.begin(), names.end()};
}

}  // namespace evo
