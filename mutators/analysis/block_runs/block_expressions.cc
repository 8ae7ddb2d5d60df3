// What the threads of a group have for an expression (block_numbers.h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "mutators/analysis/block_runs/block_numbers.h"
#include "mutators/analysis/block_runs/lane_arithmetic.h"
#include "mutators/analysis/numbers/integer_arithmetic.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// The number of a function of one or two reals; nullopt if it is none of the few that combine parts of sums.
std::optional<double> ResultOf(std::string_view callee, double a, double b) {
  if (callee == "fmaxf" || callee == "fmax" || callee == "max" || callee == "__fmaxf") return std::max(a, b);
  if (callee == "fminf" || callee == "fmin" || callee == "min") return std::min(a, b);
  if (callee == "expf" || callee == "exp" || callee == "__expf") return std::exp(a);
  if (callee == "exp2f" || callee == "exp2") return std::exp2(a);
  if (callee == "fabsf" || callee == "fabs" || callee == "abs") return std::fabs(a);
  if (callee == "__fadd_rn") return a + b;
  if (callee == "__fmul_rn") return a * b;
  return std::nullopt;
}

std::optional<double> NumberOf(const SyntaxTree& tree, const Parameters& parameters, std::string_view text) {
  if (const auto given = parameters.find(std::string(text)); given != parameters.end()) return static_cast<double>(given->second);
  if (text == "true" || text == "false") return text == "true" ? 1 : 0;
  if (const auto real = RealConstant(tree, text)) return real;
  std::string_view number = text;
  while (!number.empty() && std::string_view("uUlL").find(number.back()) != std::string_view::npos) number.remove_suffix(1);
  if (const auto whole = ConstantValue(tree, number)) return static_cast<double>(*whole);
  if (text == "FLT_MAX" || text == "__FLT_MAX__") return 3.402823466e38;
  if (text == "DBL_MAX") return 1.7976931348623157e308;
  return std::nullopt;
}

// Calls within each other.
constexpr int kMostBlockCalls = 8;

// What a function of the file returns that does nothing else, by its call; -1 for others.
int ReturnedBy(const SyntaxTree& tree, int call) {
  const auto& parts = tree.node(call).children;
  const int function = parts.empty() ? -1 : NamedDeclaration(tree, parts.front());
  if (function < 0 || tree.node(function).kind_name != "FunctionDecl" || tree.node(function).children.empty()) return -1;
  std::size_t parameters = 0;
  for (const int child : tree.node(function).children) {
    if (tree.node(child).kind_name != "ParmDecl") continue;
    if (tree.node(child).type.find_first_of("*&[") != std::string::npos) return -1;
    ++parameters;
  }
  const int only = OnlyStatement(tree, tree.node(function).children.back());
  const bool returns = only >= 0 && tree.node(only).kind_name == "ReturnStmt" && tree.node(only).children.size() == 1;
  return returns && parameters + 1 == parts.size() ? tree.node(only).children.front() : -1;
}

}  // namespace

ThreadNumbers BlockNumbers::Evaluate(int expression, const LaneMask& mask) {
  if (refusal_.given()) return make_.Unknown();
  const int node = WithoutParentheses(tree_, expression);
  const SyntaxNode& one = tree_.node(node);
  const auto& parts = one.children;
  if (parts.empty() || one.kind_name == "MemberRefExpr" || one.kind_name == "DeclRefExpr") return Leaf(node, mask);
  if (one.opaque) return make_.Unknown();
  if (one.kind_name == "ArraySubscriptExpr") {
    if (const auto place = PlaceOf(node, mask)) return memory_.Load(*place, mask, true);
    return make_.Unknown();
  }
  if (IsConversion(tree_, node)) {
    ThreadNumbers values = Evaluate(parts.back(), mask);
    if (!IsIntegerType(one.type) && one.type != "bool") return IsArithmetic(WithoutConst(one.type)) ? values : make_.Unknown();
    for (std::size_t lane = 0; lane < make_.lanes(); ++lane) {
      const double whole = std::trunc(values.numbers[lane]);
      if (whole != values.numbers[lane] && make_.IsOfData(values, mask)) values.known[lane] = 0;
      values.numbers[lane] = whole;
    }
    return values;
  }
  if (one.kind_name == "ConditionalOperator" && parts.size() == 3) return Choice(node, mask);
  const std::string_view spelled = tree_.Operator(node);
  if (one.kind_name == "UnaryOperator" && parts.size() == 1 && (spelled == "-" || spelled == "!" || spelled == "+")) {
    ThreadNumbers values = Evaluate(parts[0], mask);
    for (double& number : values.numbers) number = spelled == "-" ? -number : spelled == "!" ? (number == 0 ? 1 : 0) : number;
    return values;
  }
  if (one.kind_name == "BinaryOperator" && parts.size() == 2 && spelled != "=" && spelled != ",")
    return Binary(node, spelled, mask);
  if (one.kind_name == "CallExpr") return Called(node, mask);
  if (parts.size() == 1) return Evaluate(parts[0], mask);
  return make_.Unknown();
}

ThreadNumbers BlockNumbers::Leaf(int node, const LaneMask& mask) {
  const SyntaxNode& one = tree_.node(node);
  const std::string_view text = tree_.Text(node);
  if (one.kind_name == "MemberRefExpr") {
    ThreadNumbers values = make_.Constant(0);
    const std::int64_t width = group_.threads / group_.rows;
    for (std::size_t lane = 0; lane < make_.lanes(); ++lane) {
      const auto own = static_cast<std::int64_t>(lane);
      std::int64_t number = 0;
      if (text == "threadIdx.x")
        number = group_.along_y ? own : group_.group * width + own;
      else if (text == "threadIdx.y" || text == "threadIdx.z")
        number = text.ends_with("y") && group_.along_y ? group_.group : 0;
      else if (text == "blockIdx.x")
        number = group_.block;
      else if (text == "blockDim.x")
        number = group_.along_y ? width : group_.threads;
      else if (text == "blockDim.y" || text == "blockDim.z")
        number = text.ends_with("y") && group_.along_y ? group_.rows : 1;
      else
        return make_.Unknown();
      values.numbers[lane] = static_cast<double>(number);
    }
    return values;
  }
  if (one.kind_name == "DeclRefExpr" && one.refers_to >= 0 && tree_.node(one.refers_to).function >= 0) {
    if (const auto held = variables_.find(one.refers_to); held != variables_.end()) return held->second;
    if (tree_.node(one.refers_to).kind_name != "VarDecl" || !IsShared(tree_, one.refers_to)) return make_.Unknown();
    const auto place = PlaceOf(node, mask);
    return place ? memory_.Load(*place, mask, true) : make_.Unknown();
  }
  if (text == "warpSize") return make_.Constant(32);
  if (one.kind_name == "DeclRefExpr" && one.refers_to >= 0 && IsShared(tree_, one.refers_to)) {
    const auto place = PlaceOf(node, mask);
    return place ? memory_.Load(*place, mask, true) : make_.Unknown();
  }
  const auto number = NumberOf(tree_, group_.parameters, text);
  return number ? make_.Constant(*number) : make_.Unknown();
}

ThreadNumbers BlockNumbers::Binary(int node, std::string_view spelled, const LaneMask& mask) {
  const auto& sides = tree_.node(node).children;
  const ThreadNumbers a = Evaluate(sides[0], mask);
  if ((spelled != "&&" && spelled != "||") || make_.IsOfData(a, mask))
    return make_.Combined(PlainType(tree_.node(node).type), spelled, a, Evaluate(sides[1], mask));
  // The second side is evaluated by those threads only that the first one does not decide for.
  LaneMask open(make_.lanes(), 0);
  for (std::size_t lane = 0; lane < make_.lanes(); ++lane)
    open[lane] = mask[lane] != 0 && a.known[lane] != 0 && (a.numbers[lane] != 0) == (spelled == "&&");
  ThreadNumbers result = make_.Combined(PlainType(tree_.node(node).type), spelled, a, Evaluate(sides[1], open));
  for (std::size_t lane = 0; lane < make_.lanes(); ++lane) {
    if (mask[lane] == 0 || open[lane] != 0 || a.known[lane] == 0) continue;
    result.numbers[lane] = spelled == "||" ? 1 : 0;
    result.known[lane] = 1;
  }
  return result;
}

ThreadNumbers BlockNumbers::Choice(int node, const LaneMask& mask) {
  const auto& parts = tree_.node(node).children;
  const ThreadNumbers condition = Evaluate(parts[0], mask);
  const bool data = make_.IsOfData(condition, mask);
  if (data && make_.IsOfStandIn(condition, mask)) return make_.Unknown();
  LaneMask yes(make_.lanes(), 0);
  for (std::size_t lane = 0; lane < make_.lanes(); ++lane) yes[lane] = mask[lane] != 0 && condition.numbers[lane] != 0;
  ThreadNumbers values = Evaluate(parts[1], data ? mask : yes);
  const ThreadNumbers others = Evaluate(parts[2], data ? mask : Without(mask, yes));
  if (data) {
    make_.Mix(values, others.of);
    make_.Mix(values, condition.of);
    for (std::size_t lane = 0; lane < make_.lanes(); ++lane) {
      if (yes[lane] != 0) continue;
      values.numbers[lane] = others.numbers[lane];
      values.known[lane] = others.known[lane];
    }
  } else {
    make_.Take(values, others, Without(mask, yes));
  }
  for (std::size_t lane = 0; lane < make_.lanes(); ++lane) {
    if (condition.known[lane] == 0) values.known[lane] = 0;
  }
  return values;
}

ThreadNumbers BlockNumbers::Called(int call, const LaneMask& mask) {
  const std::string_view callee = LibraryCallee(tree_, call);
  const auto& parts = tree_.node(call).children;
  if (callee.starts_with("__shfl_") && callee.ends_with("_sync")) return Shuffled(call, mask);
  if (callee.find("sync") != std::string_view::npos || callee.starts_with("atomic")) {
    return NotUnderstood(call);
  }
  if (const int value = ReturnedBy(tree_, call); value >= 0 && depth_ < kMostBlockCalls) {
    std::size_t argument = 0;
    for (const int child : tree_.node(tree_.node(value).function).children) {
      if (tree_.node(child).kind_name == "ParmDecl") variables_[child] = Evaluate(parts[++argument], mask);
    }
    ++depth_;
    ThreadNumbers result = Evaluate(value, mask);
    --depth_;
    return result;
  }
  if (callee == "fmaf" && parts.size() == 4) {
    const ThreadNumbers a = Evaluate(parts[1], mask), b = Evaluate(parts[2], mask), c = Evaluate(parts[3], mask);
    ThreadNumbers result = a;
    for (std::size_t lane = 0; lane < make_.lanes(); ++lane) {
      result.numbers[lane] = a.numbers[lane] * b.numbers[lane] + c.numbers[lane];
      result.known[lane] = a.known[lane] != 0 && b.known[lane] != 0 && c.known[lane] != 0;
    }
    make_.Mix(result, b.of);
    make_.Mix(result, c.of);
    return result;
  }
  if ((parts.size() != 2 && parts.size() != 3) || !ResultOf(callee, 0, 0)) return make_.Unknown();
  ThreadNumbers a = Evaluate(parts[1], mask);
  const ThreadNumbers b = parts.size() == 3 ? Evaluate(parts[2], mask) : make_.Constant(0);
  for (std::size_t lane = 0; lane < make_.lanes(); ++lane) {
    a.numbers[lane] = *ResultOf(callee, a.numbers[lane], b.numbers[lane]);
    a.known[lane] = a.known[lane] != 0 && b.known[lane] != 0;
  }
  make_.Mix(a, b.of);
  return a;
}

// What other lanes have. A lane that does not take part has nothing.
ThreadNumbers BlockNumbers::Shuffled(int call, const LaneMask& mask) {
  const auto& parts = tree_.node(call).children;
  if (parts.size() < 4 || !selections_.empty()) return NotUnderstood(call);
  const ThreadNumbers values = Evaluate(parts[2], mask), by = Evaluate(parts[3], mask);
  const ThreadNumbers wide = parts.size() > 4 ? Evaluate(parts[4], mask) : make_.Constant(kWarpLanes);
  LaneValues lanes(make_.lanes()), steps(make_.lanes()), width(make_.lanes());
  for (std::size_t lane = 0; lane < make_.lanes(); ++lane) {
    if (mask[lane] != 0 && (by.known[lane] == 0 || wide.known[lane] == 0)) return NotUnderstood(call);
    lanes.numbers[lane] = static_cast<std::int64_t>(lane);
    steps.numbers[lane] = static_cast<std::int64_t>(by.numbers[lane]);
    width.numbers[lane] = static_cast<std::int64_t>(wide.numbers[lane]);
  }
  const auto from = ShuffledLanes(LibraryCallee(tree_, call), lanes, steps, width, mask);
  if (!from || make_.IsOfData(by, mask)) return NotUnderstood(call);
  ThreadNumbers shuffled = make_.Unknown();
  if (!values.of.empty()) shuffled.of.assign(make_.lanes() * make_.words(), 0);
  for (std::size_t lane = 0; lane < make_.lanes(); ++lane) {
    if (mask[lane] == 0 || from->known[lane] != Knowledge::kKnown) continue;
    const auto source = static_cast<std::size_t>(from->numbers[lane]);
    shuffled.numbers[lane] = values.numbers[source];
    shuffled.known[lane] = values.known[source];
    for (std::size_t word = 0; word < make_.words() && !values.of.empty(); ++word)
      shuffled.of[lane * make_.words() + word] = values.of[source * make_.words() + word];
  }
  return shuffled;
}

}  // namespace evo
