#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/sum_loop.h"
#include "mutators/parallelism/stencils/stencil_sum.h"

namespace evo {
namespace {

// Integers that every float has.
constexpr std::int64_t kMostExactInteger = 1 << 24;

// What a literal adds: nothing if it is zero.
WeightedSum SumOfLiteral(const SyntaxTree& tree, std::string_view text) {
  const auto value = RealConstant(tree, text);
  if (value && *value == 0) return {};
  return WeightedSum::Number({value && *value == 1 ? "1" : std::string(text), false});
}

// Whether a name stands for the same before the loop: a parameter, what the file declares, or a declaration that moves there.
bool IsCommonName(const WalkingParts& parts, int name) {
  const SyntaxNode& declared = parts.tree.node(name);
  const auto& common = parts.statements.common();
  return declared.kind_name == "ParmDecl" || declared.function < 0 ||
         std::find(common.begin(), common.end(), declared.parent) != common.end();
}

// An expression as an operand may be spelled: a macro may mean something that needs parentheses, and so does a comma.
std::string SpelledOperand(const SyntaxTree& tree, int expression) {
  const SyntaxNode& node = tree.node(expression);
  const bool is_macro = node.children.empty() && (node.kind_name == "BinaryOperator" || node.kind_name == "ConditionalOperator");
  std::string text(tree.Text(expression));
  return is_macro || tree.Operator(expression) == "," ? fmt::format("({})", text) : text;
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

// An expression that is the same for all threads, as it is spelled.
std::optional<StencilSumFinder::Value> StencilSumFinder::Invariant(int expression) {
  const auto named = NamedIn(parts_.tree, expression);
  if (!IsPure(parts_.tree, expression) || LoadsIn(parts_.tree, expression) ||
      !std::all_of(named.begin(), named.end(), [&](int name) { return IsCommonName(parts_, name); }))
    return std::nullopt;
  const std::string text = SpelledOperand(parts_.tree, expression);
  if (!StencilSum::IsReal(parts_.tree.node(expression).type)) {
    if (const auto integer = integers_.ValueOf(expression)) return Value{integer, std::nullopt};
    if (!IsArithmetic(WithoutConst(parts_.tree.node(expression).type))) return std::nullopt;
    return Value{std::nullopt, WeightedSum::Number({fmt::format("(double){}", Parenthesised(text)), false})};
  }
  const bool literal =
      !named.empty() || text.empty() ? false : text.front() == '.' || (text.front() >= '0' && text.front() <= '9');
  if (literal && Parenthesised(text) == text) return Value{std::nullopt, SumOfLiteral(parts_.tree, text)};
  // Parts may be zero, one or negative. A macro has none.
  const ExpressionKind kind = integers_.kinds().KindOf(expression);
  const bool has_parts = !parts_.tree.node(expression).children.empty();
  if (has_parts && (kind == ExpressionKind::kUnary || kind == ExpressionKind::kParentheses)) return std::nullopt;
  return Value{std::nullopt, WeightedSum::Number({text, false})};
}

StencilSumFinder::Value StencilSumFinder::Evaluate(int expression) {
  if (refusal_.given()) return {};
  const Nesting level(refusal_);
  if (level.TooDeep()) return Refuse(fmt::format("{} is nested too deeply", Quoted(parts_.tree, expression)));
  const SyntaxNode& node = parts_.tree.node(expression);
  if (const auto known = Known(expression)) return *known;
  if (const auto value = Invariant(expression)) return *value;
  switch (node.children.empty() ? ExpressionKind::kOther : integers_.kinds().KindOf(expression)) {
    case ExpressionKind::kParentheses:
      return Evaluate(node.children.back());
    case ExpressionKind::kUnary: {
      const std::string_view spelled = integers_.kinds().OperatorOf(expression);
      if (spelled == "+") return Evaluate(node.children[0]);
      if (spelled == "-") return {std::nullopt, SumOf(Evaluate(node.children[0])).Negated()};
      break;
    }
    case ExpressionKind::kBinary:
      return Binary(expression);
    case ExpressionKind::kConditional: {
      const auto known = integers_.ValueOf(node.children[0]);
      return Evaluate(node.children[(known ? *known != 0 : Decide(node.children[0])) ? 1 : 2]);
    }
    case ExpressionKind::kCast:
      if (StencilSum::IsReal(node.type)) return {std::nullopt, SumOf(Evaluate(node.children.back()))};
      break;
    case ExpressionKind::kSubscript:
      return Element(expression);
    case ExpressionKind::kCall:
      return Call(expression);
    default:
      if (node.children.size() == 1 && parts_.tree.Text(node.children.front()) == parts_.tree.Text(expression))
        return Evaluate(node.children.front());
      break;
  }
  if (const auto integer = integers_.ValueOf(expression)) return {integer, std::nullopt};
  return Refuse(fmt::format("{} is no sum of neighbours", Quoted(parts_.tree, expression)));
}

// A neighbour, a weight that a thread has in registers, or a variable.
std::optional<StencilSumFinder::Value> StencilSumFinder::Known(int expression) {
  const Stencil& found = parts_.found;
  const auto site = std::find_if(found.sites.begin(), found.sites.end(), [&](const auto& one) { return one.node == expression; });
  if (site != found.sites.end()) {
    WeightedSum::Place place{};
    for (std::size_t axis = 0; axis < found.dimensions; ++axis) {
      place[axis] = site->offsets[axis].constant;
      for (const auto& [counter, factor] : site->offsets[axis].factors) place[axis] += factor * integers_.Counter(counter);
    }
    return Value{std::nullopt, WeightedSum::Neighbour(place)};
  }
  for (const Stencil::Table& table : parts_.weights.kept()) {
    if (!table.nodes.contains(expression)) continue;
    const auto index = integers_.ValueOf(parts_.tree.node(expression).children[1]);
    if (!index || *index < table.low || *index >= table.low + table.count)
      return Refuse(fmt::format("which weight {} is does not follow from its loops", Quoted(parts_.tree, expression)));
    const std::string weight = fmt::format("{}[{}]", parts_.names.Weights(table.buffer), *index - table.low);
    return Value{std::nullopt, WeightedSum::Number({weight, false})};
  }
  const int name = NamedDeclaration(parts_.tree, expression);
  if (const auto variable = variables_.find(name); variable != variables_.end()) return Value{std::nullopt, variable->second};
  if (!integers_.IsVariable(name)) return std::nullopt;
  const auto integer = integers_.ValueOf(expression);
  if (integer) return Value{integer, std::nullopt};
  return Refuse(fmt::format("it computes with {}, which is no sum of neighbours", Quoted(parts_.tree, expression)));
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
  const auto& sides = parts_.tree.node(expression).children;
  if (!StencilSum::IsReal(parts_.tree.node(expression).type)) {
    if (const auto integer = integers_.ValueOf(expression)) return {integer, std::nullopt};
    return Refuse(fmt::format("{} is no sum of floats", Quoted(parts_.tree, expression)));
  }
  if (IsAssignment(parts_.tree, expression))
    return Refuse(fmt::format("{} within an expression", Quoted(parts_.tree, expression)));
  const Value left = Evaluate(sides[0]), right = Evaluate(sides[1]);
  return refusal_.given() ? Value{} : Combined(integers_.kinds().OperatorOf(expression), left, right);
}

StencilSumFinder::Value StencilSumFinder::Call(int expression) {
  const auto& parts = parts_.tree.node(expression).children;
  if (IsFusedMultiplyAdd(LibraryCallee(parts_.tree, expression)) && parts.size() == 4) {
    const Value product = Combined("*", Evaluate(parts[1]), Evaluate(parts[2]));
    return refusal_.given() ? Value{} : Combined("+", product, Evaluate(parts[3]));
  }
  if (const auto integer = integers_.ValueOf(expression)) return {integer, std::nullopt};
  return Refuse(fmt::format("{} is no sum of neighbours", Quoted(parts_.tree, expression)));
}

// An element of an array of numbers that never change: of the file, in constant memory, or the kernel's own.
StencilSumFinder::Value StencilSumFinder::Element(int expression) {
  std::vector<int> places;
  int array = expression;
  while (parts_.tree.node(array).kind_name == "ArraySubscriptExpr") {
    places.insert(places.begin(), parts_.tree.node(array).children[1]);
    array = WithoutParentheses(parts_.tree, parts_.tree.node(array).children[0]);
  }
  const int declaration = NamedDeclaration(parts_.tree, array);
  if (declaration < 0 || parts_.tree.node(declaration).kind_name != "VarDecl" ||
      !StencilSum::IsReal(parts_.tree.node(expression).type))
    return Refuse(fmt::format("it reads {}, which is no neighbour", Quoted(parts_.tree, expression)));
  std::vector<std::int64_t> indices;
  for (const int place : places) {
    const auto index = integers_.ValueOf(place);
    if (!index) return Refuse(fmt::format("which element {} is does not follow from its loops", Quoted(parts_.tree, expression)));
    indices.push_back(*index);
  }
  const SyntaxNode& declared = parts_.tree.node(declaration);
  if (declared.function < 0) {
    const std::string_view text = parts_.tree.Text(declaration);
    if (text.find("__constant__") == std::string_view::npos && text.find("const") == std::string_view::npos)
      return Refuse(fmt::format("{} may change", Quoted(parts_.tree, expression)));
    std::string spelled = declared.name;
    for (const std::int64_t index : indices) spelled += fmt::format("[{}]", index);
    return {std::nullopt, WeightedSum::Number({spelled, false})};
  }
  if (WrittenIn(parts_.tree, parts_.found.kernel).contains(declaration)) return Refuse(fmt::format("{} changes", declared.name));
  int list = declared.children.empty() ? -1 : declared.children.back();
  for (const std::int64_t index : indices) {
    if (list < 0 || parts_.tree.node(list).kind_name != "InitListExpr" || index < 0)
      return Refuse(Quoted(parts_.tree, expression));
    const auto& elements = parts_.tree.node(list).children;
    if (index >= static_cast<std::int64_t>(elements.size())) return Refuse(Quoted(parts_.tree, expression));
    list = elements[static_cast<std::size_t>(index)];
  }
  return Evaluate(list);
}

}  // namespace evo
