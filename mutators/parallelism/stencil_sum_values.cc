#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "mutators/analysis/constant_value.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/sum_loop.h"
#include "mutators/parallelism/stencil_sum.h"

namespace evo {
namespace {

// Integers that every float has.
constexpr std::int64_t kMostExactInteger = 1 << 24;

bool IsRealResult(const std::string& type) {
  const std::string plain = WithoutConst(type);
  return plain == "float" || plain == "double";
}

// What a literal adds: nothing if it is zero.
WeightedSum SumOfLiteral(const SyntaxTree& tree, std::string_view text) {
  const auto value = RealConstant(tree, text);
  if (value && *value == 0) return {};
  return WeightedSum::Number({value && *value == 1 ? "1" : std::string(text), false});
}

}  // namespace

// Refused if the value is not known.
WeightedSum StencilSumFinder::SumOf(const Value& value) {
  if (value.sum) return *value.sum;
  if (!value.integer || std::abs(*value.integer) > kMostExactInteger) {
    Refuse("it computes with what is no sum of neighbours");
    return {};
  }
  if (*value.integer == 0) return {};
  const std::int64_t number = std::abs(*value.integer);
  return WeightedSum::Number({number == 1 ? "1" : fmt::format("{}.0", number), *value.integer < 0});
}

// Whether a name stands for the same before the loop: a parameter, what the file declares, or a declaration that moves there.
bool StencilSumFinder::IsCommon(int name) const {
  const SyntaxNode& declared = tree_.node(name);
  return declared.kind_name == "ParmDecl" || declared.function < 0 ||
         std::find(statements_.common().begin(), statements_.common().end(), declared.parent) != statements_.common().end();
}

// An expression that is the same for all threads, as it is spelled.
std::optional<StencilSumFinder::Value> StencilSumFinder::Invariant(int expression) {
  const auto named = NamedIn(tree_, expression);
  if (!IsPure(tree_, expression) || LoadsIn(tree_, expression) ||
      !std::all_of(named.begin(), named.end(), [&](int name) { return IsCommon(name); }))
    return std::nullopt;
  const std::string text(tree_.Text(expression));
  if (!IsRealResult(tree_.node(expression).type)) {
    if (const auto integer = IntegerOf(expression)) return Value{integer, std::nullopt};
    if (!IsArithmetic(WithoutConst(tree_.node(expression).type))) return std::nullopt;
    return Value{std::nullopt, WeightedSum::Number({fmt::format("(float){}", Parenthesised(text)), false})};
  }
  const bool literal =
      !named.empty() || text.empty() ? false : text.front() == '.' || (text.front() >= '0' && text.front() <= '9');
  if (literal && Parenthesised(text) == text) return Value{std::nullopt, SumOfLiteral(tree_, text)};
  // Parts may be zero, one or negative.
  if (kinds_.KindOf(expression) == ExpressionKind::kUnary || kinds_.KindOf(expression) == ExpressionKind::kParentheses)
    return std::nullopt;
  return Value{std::nullopt, WeightedSum::Number({text, false})};
}

StencilSumFinder::Value StencilSumFinder::Evaluate(int expression) {
  if (refusal_.given()) return {};
  const SyntaxNode& node = tree_.node(expression);
  const auto site =
      std::find_if(found_.sites.begin(), found_.sites.end(), [&](const auto& one) { return one.node == expression; });
  if (site != found_.sites.end()) return Site(*site);
  for (const Stencil::Table& table : weights_.kept()) {
    if (table.nodes.contains(expression)) return Weight(table, expression);
  }
  if (const auto variable = variables_.find(NamedDeclaration(tree_, expression)); variable != variables_.end()) {
    if (!variable->second.integer && !variable->second.sum)
      return Refuse(fmt::format("it computes with {}, which is no sum of neighbours", Quoted(tree_, expression)));
    return variable->second;
  }
  if (const auto value = Invariant(expression)) return *value;
  switch (kinds_.KindOf(expression)) {
    case ExpressionKind::kParentheses:
      return Evaluate(node.children.back());
    case ExpressionKind::kUnary: {
      const std::string_view spelled = kinds_.OperatorOf(expression);
      if (spelled == "+") return Evaluate(node.children[0]);
      if (spelled == "-") return {std::nullopt, SumOf(Evaluate(node.children[0])).Negated()};
      break;
    }
    case ExpressionKind::kBinary:
      return Binary(expression);
    case ExpressionKind::kConditional: {
      const auto known = IntegerOf(node.children[0]);
      return Evaluate(node.children[(known ? *known != 0 : Decide(node.children[0])) ? 1 : 2]);
    }
    case ExpressionKind::kCast:
      if (IsRealResult(node.type)) return {std::nullopt, SumOf(Evaluate(node.children.back()))};
      break;
    case ExpressionKind::kSubscript:
      return Element(expression);
    case ExpressionKind::kCall:
      return Call(expression);
    default:
      if (node.children.size() == 1 && tree_.Text(node.children.front()) == tree_.Text(expression))
        return Evaluate(node.children.front());
      break;
  }
  if (const auto integer = IntegerOf(expression)) return {integer, std::nullopt};
  return Refuse(fmt::format("{} is no sum of neighbours", Quoted(tree_, expression)));
}

StencilSumFinder::Value StencilSumFinder::Site(const Stencil::Site& site) {
  WeightedSum::Place place{};
  for (std::size_t axis = 0; axis < found_.dimensions; ++axis) {
    place[axis] = site.offsets[axis].constant;
    for (const auto& [counter, factor] : site.offsets[axis].factors) {
      const auto value = variables_.find(counter);
      if (value == variables_.end() || !value->second.integer) return Refuse(Quoted(tree_, site.node));
      place[axis] += factor * *value->second.integer;
    }
  }
  return {std::nullopt, WeightedSum::Neighbour(place)};
}

// An element of a table that a thread has in registers.
StencilSumFinder::Value StencilSumFinder::Weight(const Stencil::Table& table, int expression) {
  const auto index = IntegerOf(tree_.node(expression).children[1]);
  if (!index || *index < table.low || *index >= table.low + table.count)
    return Refuse(fmt::format("which weight {} is does not follow from its loops", Quoted(tree_, expression)));
  return {std::nullopt, WeightedSum::Number({fmt::format("{}[{}]", names_.Weights(table.buffer), *index - table.low), false})};
}

StencilSumFinder::Value StencilSumFinder::Combined(std::string_view spelled, const Value& left, const Value& right) {
  const WeightedSum a = SumOf(left), b = SumOf(right);
  if (refusal_.given()) return {};
  std::optional<WeightedSum> result;
  if (spelled == "+") result = a.Plus(b);
  if (spelled == "-") result = a.Plus(b.Negated());
  if (spelled == "*") result = a.Times(b);
  if (spelled == "/") result = a.Over(b);
  if (!result) return Refuse(fmt::format("it has a `{}` that is not linear", spelled));
  return {std::nullopt, std::move(result)};
}

StencilSumFinder::Value StencilSumFinder::Binary(int expression) {
  const auto& sides = tree_.node(expression).children;
  if (!IsRealResult(tree_.node(expression).type)) {
    if (const auto integer = IntegerOf(expression)) return {integer, std::nullopt};
    return Refuse(fmt::format("{} is no sum of floats", Quoted(tree_, expression)));
  }
  if (IsAssignment(tree_, expression)) return Refuse(fmt::format("{} within an expression", Quoted(tree_, expression)));
  const Value left = Evaluate(sides[0]), right = Evaluate(sides[1]);
  return refusal_.given() ? Value{} : Combined(kinds_.OperatorOf(expression), left, right);
}

StencilSumFinder::Value StencilSumFinder::Call(int expression) {
  const auto& parts = tree_.node(expression).children;
  if (IsFusedMultiplyAdd(LibraryCallee(tree_, expression)) && parts.size() == 4) {
    const Value product = Combined("*", Evaluate(parts[1]), Evaluate(parts[2]));
    return refusal_.given() ? Value{} : Combined("+", product, Evaluate(parts[3]));
  }
  if (const auto integer = IntegerOf(expression)) return {integer, std::nullopt};
  return Refuse(fmt::format("{} is no sum of neighbours", Quoted(tree_, expression)));
}

// An element of an array of numbers that never change: of the file, in constant memory, or the kernel's own.
StencilSumFinder::Value StencilSumFinder::Element(int expression) {
  std::vector<std::int64_t> indices;
  int array = expression;
  while (tree_.node(array).kind_name == "ArraySubscriptExpr") {
    const auto index = IntegerOf(tree_.node(array).children[1]);
    if (!index) return Refuse(fmt::format("which element {} is does not follow from its loops", Quoted(tree_, expression)));
    indices.insert(indices.begin(), *index);
    array = WithoutParentheses(tree_, tree_.node(array).children[0]);
  }
  const int declaration = NamedDeclaration(tree_, array);
  if (declaration < 0 || tree_.node(declaration).kind_name != "VarDecl" || !IsRealResult(tree_.node(expression).type))
    return Refuse(fmt::format("it reads {}, which is no neighbour", Quoted(tree_, expression)));
  const SyntaxNode& declared = tree_.node(declaration);
  if (declared.function < 0) {
    const std::string_view text = tree_.Text(declaration);
    if (text.find("__constant__") == std::string_view::npos && text.find("const") == std::string_view::npos)
      return Refuse(fmt::format("{} may change", Quoted(tree_, expression)));
    std::string spelled = declared.name;
    for (const std::int64_t index : indices) spelled += fmt::format("[{}]", index);
    return {std::nullopt, WeightedSum::Number({spelled, false})};
  }
  if (WrittenIn(tree_, found_.kernel).contains(declaration)) return Refuse(fmt::format("{} changes", declared.name));
  int list = declared.children.empty() ? -1 : declared.children.back();
  for (const std::int64_t index : indices) {
    if (list < 0 || tree_.node(list).kind_name != "InitListExpr" || index < 0) return Refuse(Quoted(tree_, expression));
    const auto& elements = tree_.node(list).children;
    if (index >= static_cast<std::int64_t>(elements.size())) return Refuse(Quoted(tree_, expression));
    list = elements[static_cast<std::size_t>(index)];
  }
  return Evaluate(list);
}

}  // namespace evo
