#include "mutators/analysis/block_runs/lockstep_integers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "mutators/analysis/numbers/integer_arithmetic.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// Whatever C++ leaves undefined has some value, since lanes compute that do not take part.
std::int64_t SomeResult(std::string_view spelled, const IntegerOperator& computed, std::int64_t a, std::int64_t b) {
  if (spelled == "&&") return a != 0 && b != 0;
  if (spelled == "||") return a != 0 || b != 0;
  const auto defined = computed.Result(a, b);
  return defined ? *defined : spelled == "/" ? Truncated(0 - static_cast<std::uint64_t>(a)) : 0;
}

}  // namespace

LockstepIntegers::LockstepIntegers(const SyntaxTree& tree, const RunSetting& setting, Refusal& refusal)
    : tree_(tree), setting_(setting), refusal_(refusal), lanes_(static_cast<std::size_t>(setting.threads)) {}

LockstepIntegers::Values LockstepIntegers::Depends(const std::string& on) {
  refusal_.Add(fmt::format("its work depends on {}", on));
  return Values(lanes_);
}

LaneMask LockstepIntegers::Where(int condition, const LaneMask& mask) {
  LaneMask result = mask;
  const Values values = Evaluate(condition);
  for (std::size_t lane = 0; lane < lanes_ && !refusal_.given(); ++lane) result[lane] = mask[lane] && values[lane] != 0;
  return result;
}

void LockstepIntegers::Assign(int variable, const Values& values, const LaneMask& mask) {
  Values& held = variables_.try_emplace(variable, lanes_).first->second;
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (mask[lane]) held[lane] = values[lane];
  }
}

void LockstepIntegers::Count(int variable, std::int64_t by, const LaneMask& mask) {
  Values& held = variables_.at(variable);
  for (std::size_t lane = 0; lane < lanes_; ++lane) held[lane] += mask[lane] ? by : 0;
}

LockstepIntegers::Values LockstepIntegers::TurnsOf(const std::vector<OuterLoop>& loops) {
  Values turns(lanes_);
  for (const OuterLoop& loop : loops) {
    const auto held = variables_.find(loop.counter);
    if (held == variables_.end()) return Depends("a loop that it is not in");
    for (std::size_t lane = 0; lane < lanes_; ++lane) turns[lane] = turns[lane] * kMostTurns + held->second[lane];
  }
  return turns;
}

LockstepIntegers::Values LockstepIntegers::Constant(std::string_view text) {
  if (text.empty()) return Depends("a text");
  const auto given = setting_.macros.find(text);
  if (given != setting_.macros.end()) return Values(lanes_, given->second);
  while (!text.empty() && std::string_view("uUlL").find(text.back()) != std::string_view::npos &&
         std::isdigit(static_cast<unsigned char>(text.front())) != 0)
    text.remove_suffix(1);
  // Of `threadIdx.x < blockDim.x / 32.f`, the number 32.
  if (std::isdigit(static_cast<unsigned char>(text.front())) != 0 && (text.ends_with(".f") || text.ends_with(".0f")))
    text = text.substr(0, text.find('.'));
  const auto value = ConstantValue(tree_, text);
  return value ? Values(lanes_, *value) : Depends(fmt::format("`{}`", text));
}

LockstepIntegers::Values LockstepIntegers::Named(int expression) {
  const SyntaxNode& node = tree_.node(expression);
  const int declaration = node.refers_to;
  if (declaration < 0) return node.name == "warpSize" ? Values(lanes_, 32) : Constant(node.name);
  const SyntaxNode& named = tree_.node(declaration);
  if (const auto held = variables_.find(declaration); held != variables_.end()) return held->second;
  const auto given = setting_.parameters.find(declaration);
  if (given != setting_.parameters.end()) return Values(lanes_, given->second);
  if (named.function < 0 && named.kind_name == "VarDecl") return Constant(named.name);
  return Depends(fmt::format("`{}`", named.name));
}

LockstepIntegers::Values LockstepIntegers::Builtin(int expression) {
  const std::string_view text = tree_.Text(expression);
  Values values(lanes_);
  const bool other = text.ends_with(".y") || text.ends_with(".z");
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (text == "threadIdx.x") values[lane] = static_cast<std::int64_t>(lane);
    if (text == "blockIdx.x") values[lane] = setting_.block;
    if (text == "blockDim.x") values[lane] = setting_.threads;
    if (text == "gridDim.x") values[lane] = setting_.blocks;
    if (text == "blockDim.y" || text == "blockDim.z") values[lane] = 1;
  }
  if (other && !text.starts_with("threadIdx") && !text.starts_with("blockDim")) return Depends(Quoted(tree_, expression));
  return values;
}

LockstepIntegers::Values LockstepIntegers::Conditional(int expression) {
  const auto& parts = tree_.node(expression).children;
  const Values which = Evaluate(parts[0]);
  Values values = Evaluate(parts[1]);
  const Values others = Evaluate(parts[2]);
  for (std::size_t lane = 0; lane < lanes_; ++lane) values[lane] = which[lane] != 0 ? values[lane] : others[lane];
  return values;
}

LockstepIntegers::Values LockstepIntegers::Unary(int expression, std::string_view spelled) {
  Values values = Evaluate(tree_.node(expression).children.front());
  for (auto& value : values)
    value = spelled == "-"   ? Truncated(0 - static_cast<std::uint64_t>(value))
            : spelled == "!" ? value == 0
            : spelled == "~" ? ~value
                             : value;
  return values;
}

LockstepIntegers::Values LockstepIntegers::Extreme(int call, bool largest) {
  Values values = Evaluate(tree_.node(call).children[1]);
  const Values others = Evaluate(tree_.node(call).children[2]);
  for (std::size_t lane = 0; lane < lanes_; ++lane)
    values[lane] = largest ? std::max(values[lane], others[lane]) : std::min(values[lane], others[lane]);
  return values;
}

LockstepIntegers::Values LockstepIntegers::Evaluate(int expression) {
  if (refusal_.given()) return Values(lanes_);
  expression = WithoutParentheses(tree_, expression);
  const SyntaxNode& node = tree_.node(expression);
  if (node.opaque || NamesShared(tree_, expression)) return Depends(Quoted(tree_, expression));
  if (node.kind_name == "DeclRefExpr") return Named(expression);
  if (node.kind_name == "MemberRefExpr") return Builtin(expression);
  if (node.children.empty()) return Constant(tree_.Text(expression));
  if (IsConversion(tree_, expression)) return Evaluate(node.children.back());
  if (node.kind_name == "ConditionalOperator" && node.children.size() == 3) return Conditional(expression);
  const std::string_view spelled = tree_.Operator(expression);
  const bool unary = node.kind_name == "UnaryOperator" && (spelled == "-" || spelled == "!" || spelled == "~" || spelled == "+");
  if (unary) return Unary(expression, spelled);
  const auto callee = LibraryCallee(tree_, expression);
  if ((callee == "min" || callee == "max") && node.children.size() == 3) return Extreme(expression, callee == "max");
  if (node.kind_name != "BinaryOperator" || node.children.size() != 2 || spelled == "=" || spelled == ",")
    return Depends(Quoted(tree_, expression));
  return Operation(expression, spelled);
}

LockstepIntegers::Values LockstepIntegers::Operation(int node, std::string_view spelled) {
  Values a = Evaluate(tree_.node(node).children[0]);
  const Values b = Evaluate(tree_.node(node).children[1]);
  const IntegerOperator computed(spelled);
  const std::string type = WithoutConst(tree_.node(node).type);
  if (spelled == "/" && (type == "float" || type == "double")) {
    // Whole numbers only: others are not known here.
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      if (b[lane] == 0 || a[lane] % b[lane] != 0) return Depends(Quoted(tree_, node));
    }
  }
  for (std::size_t lane = 0; lane < lanes_; ++lane) a[lane] = SomeResult(spelled, computed, a[lane], b[lane]);
  return a;
}

}  // namespace evo
