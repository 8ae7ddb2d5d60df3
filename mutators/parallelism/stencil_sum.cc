#include "mutators/parallelism/stencil_sum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "mutators/analysis/constant_value.h"
#include "mutators/analysis/counted_loop.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/integer_arithmetic.h"
#include "mutators/analysis/memory_traffic.h"
#include "mutators/analysis/source_query.h"

namespace evo {
namespace {

bool IsRealName(const std::string& type) {
  const std::string plain = WithoutConst(type);
  return plain == "float" || plain == "double";
}

}  // namespace

StencilSumFinder::Value StencilSumFinder::Refuse(std::string why) {
  refusal_.Add(std::move(why));
  return {};
}

std::variant<StencilSum, std::string> StencilSumFinder::Find() {
  StencilSum sum;
  const auto first = Run(true);
  std::optional<WeightedSum> second;
  if (condition_ >= 0 && !refusal_.given()) second = Run(false);
  if (refusal_.given()) return refusal_.why();
  if (!first && !second) return "it stores nothing that is a sum";
  sum.type = type_;
  sum.relied = relied_;
  if (!first || !second) {
    sum.inside = first ? *first : *second;
    return sum;
  }
  const auto is_of_itself = [](const WeightedSum& one) {
    return std::all_of(one.neighbours().begin(), one.neighbours().end(),
                       [](const auto& neighbour) { return neighbour.first == WeightedSum::Place{}; });
  };
  sum.condition = condition_;
  sum.inside_if = is_of_itself(*second);
  sum.inside = sum.inside_if ? *first : *second;
  sum.edge = sum.inside_if ? *second : *first;
  if (!is_of_itself(sum.edge)) return "it sums up other neighbours at edges";
  return sum;
}

// What is stored where a condition on the place has this outcome; nullopt for nothing.
std::optional<WeightedSum> StencilSumFinder::Run(bool decision) {
  variables_.clear();
  stored_.reset();
  decision_ = decision;
  loops_ = 0;
  for (const int statement : statements_.in_loop()) {
    if (refusal_.given() || Execute(statement) != Flow::kOn) break;
  }
  return stored_;
}

StencilSumFinder::Flow StencilSumFinder::Execute(int statement) {
  if (refusal_.given()) return Flow::kStop;
  const SyntaxNode& node = tree_.node(statement);
  const std::string& kind = node.kind_name;
  if (kind == "CompoundStmt") {
    for (const int child : node.children) {
      if (const Flow flow = Execute(child); flow != Flow::kOn) return flow;
    }
    return Flow::kOn;
  }
  if (kind == "IfStmt") return ExecuteIf(statement);
  if (kind == "ForStmt") return ExecuteLoop(statement);
  if (kind == "ReturnStmt") return Flow::kStop;
  if (kind == "ContinueStmt") return Flow::kContinue;
  if (kind == kPragmaKind || kind == "NullStmt") return Flow::kOn;
  if (kind == "DeclStmt") {
    for (const int variable : node.children) {
      const SyntaxNode& declared = tree_.node(variable);
      if (declared.kind_name != "VarDecl" || declared.children.empty()) continue;
      const int initial = declared.children.back();
      if (IsRealName(declared.type))
        variables_[variable] = Evaluate(initial);
      else if (IsArithmetic(WithoutConst(declared.type)))
        variables_[variable] = {IntegerOf(initial), std::nullopt};
    }
    return refusal_.given() ? Flow::kStop : Flow::kOn;
  }
  if (!IsAssignment(tree_, statement)) Refuse(fmt::format("{} is no sum of neighbours", Quoted(tree_, statement)));
  if (!refusal_.given()) Assign(statement);
  return refusal_.given() ? Flow::kStop : Flow::kOn;
}

// The outcome of a condition on the place, of which there may be one.
bool StencilSumFinder::Decide(int condition) {
  const bool other = condition_ >= 0 && condition_ != condition;
  if (other || loops_ > 0) Refuse(fmt::format("{} decides what it sums up", Quoted(tree_, condition)));
  condition_ = condition;
  return decision_;
}

StencilSumFinder::Flow StencilSumFinder::ExecuteIf(int statement) {
  const auto& parts = tree_.node(statement).children;
  if (parts.size() < 2 || parts.size() > 3) return Refuse("an `if` with a declaration"), Flow::kStop;
  // Every element that is stored is stored by its thread: one that returns before that has none.
  const int only = OnlyStatement(tree_, parts[1]);
  if (parts.size() == 2 && !stored_ && loops_ == 0 && tree_.node(only < 0 ? parts[1] : only).kind_name == "ReturnStmt")
    return Flow::kOn;
  const auto known = IntegerOf(parts[0]);
  const bool holds = known ? *known != 0 : Decide(parts[0]);
  if (refusal_.given()) return Flow::kStop;
  if (holds) return Execute(parts[1]);
  return parts.size() == 3 ? Execute(parts[2]) : Flow::kOn;
}

StencilSumFinder::Flow StencilSumFinder::ExecuteLoop(int statement) {
  const auto loop = AsCountedLoop(tree_, statement);
  const auto turns = loop ? TripCount(tree_, *loop) : std::nullopt;
  const auto start = loop ? IntegerOf(loop->start) : std::nullopt;
  const auto step = loop ? ConstantValue(tree_, loop->step) : std::nullopt;
  constexpr std::int64_t kMostTurnsOfSum = 64;
  if (!turns || !start || !step || *turns > kMostTurnsOfSum)
    return Refuse(fmt::format("{} has no fixed, small number of turns", Quoted(tree_, statement))), Flow::kStop;
  relied_ += fmt::format(" {} {} {}", tree_.Text(loop->start), tree_.Text(loop->bound), loop->step);
  ++loops_;
  for (std::int64_t turn = 0; turn < *turns; ++turn) {
    variables_[loop->counter] = {*start + turn * *step, std::nullopt};
    if (Execute(loop->parts.body) == Flow::kStop) return Flow::kStop;
  }
  --loops_;
  return Flow::kOn;
}

void StencilSumFinder::Assign(int expression) {
  const auto& sides = tree_.node(expression).children;
  const std::string_view spelled = tree_.Operator(expression);
  const int target = sides.front(), variable = NamedDeclaration(tree_, target);
  if (spelled.empty() || sides.size() != 2) return void(Refuse(Quoted(tree_, expression)));
  if (!IsRealName(tree_.node(target).type)) {
    Refuse(fmt::format("{} is no float", Quoted(tree_, target)));
    return;
  }
  Value value = Evaluate(sides[1]);
  if (refusal_.given()) return;
  if (IsStore(tree_, expression)) {
    if (stored_ || spelled != "=") return void(Refuse("it stores several times"));
    type_ = WithoutConst(tree_.node(sides[1]).type);
    stored_ = SumOf(value);
    return;
  }
  if (variable < 0 || tree_.node(variable).function < 0) return void(Refuse(Quoted(tree_, expression)));
  if (spelled != "=") value = Combined(spelled.substr(0, spelled.size() - 1), variables_[variable], value);
  variables_[variable] = {std::nullopt, SumOf(value)};
}

std::optional<std::int64_t> StencilSumFinder::IntegerOf(int expression) {
  expression = WithoutParentheses(tree_, expression);
  const SyntaxNode& node = tree_.node(expression);
  const std::string_view text = tree_.Text(expression);
  const int name = NamedDeclaration(tree_, expression);
  if (const auto variable = variables_.find(name); variable != variables_.end()) return variable->second.integer;
  if (node.children.empty() || kinds_.KindOf(expression) == ExpressionKind::kName) {
    if (name >= 0 && tree_.node(name).function >= 0) return std::nullopt;
    if (IsRealName(node.type)) return std::nullopt;
    const auto number = ConstantValue(tree_, text);
    if (number) relied_ += fmt::format(" {}", text);
    return number;
  }
  const std::string_view spelled = kinds_.OperatorOf(expression);
  if (node.children.size() == 1 && tree_.Text(node.children[0]) == text) return IntegerOf(node.children[0]);
  switch (kinds_.KindOf(expression)) {
    case ExpressionKind::kUnary: {
      const auto value = IntegerOf(node.children[0]);
      if (!value || spelled.size() != 1) return std::nullopt;
      if (spelled == "-") return -*value;
      if (spelled == "!") return *value == 0;
      return spelled == "+" ? value : std::nullopt;
    }
    case ExpressionKind::kBinary: {
      if (IsAssignment(tree_, expression)) return std::nullopt;
      const auto left = IntegerOf(node.children[0]), right = IntegerOf(node.children[1]);
      if (spelled == "&&" && ((left && *left == 0) || (right && *right == 0))) return 0;
      if (spelled == "||" && ((left && *left != 0) || (right && *right != 0))) return 1;
      if (!left || !right) return std::nullopt;
      if (spelled == "&&" || spelled == "||") return spelled == "&&";
      const auto result = IntegerOperator(spelled).Result(*left, *right, IsUnsigned(tree_.node(node.children[0]).type));
      return result ? std::optional(NumberType(node.type).Fit(*result)) : std::nullopt;
    }
    case ExpressionKind::kConditional: {
      const auto condition = IntegerOf(node.children[0]);
      return condition ? IntegerOf(node.children[*condition != 0 ? 1 : 2]) : std::nullopt;
    }
    case ExpressionKind::kCast: {
      const auto value = IsRealName(node.type) ? std::nullopt : IntegerOf(node.children.back());
      return value ? std::optional(NumberType(node.type).Fit(*value)) : std::nullopt;
    }
    case ExpressionKind::kCall:
      return IntegerOfCall(expression);
    default:
      return std::nullopt;
  }
}

std::optional<std::int64_t> StencilSumFinder::IntegerOfCall(int expression) {
  const auto& parts = tree_.node(expression).children;
  const std::string_view callee = LibraryCallee(tree_, expression);
  std::vector<std::int64_t> arguments;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto argument = IntegerOf(parts[i]);
    if (!argument) return std::nullopt;
    arguments.push_back(*argument);
  }
  if (callee == "abs" && arguments.size() == 1) return std::abs(arguments[0]);
  if (arguments.size() != 2) return std::nullopt;
  if (callee == "min") return std::min(arguments[0], arguments[1]);
  if (callee == "max") return std::max(arguments[0], arguments[1]);
  return std::nullopt;
}

}  // namespace evo
