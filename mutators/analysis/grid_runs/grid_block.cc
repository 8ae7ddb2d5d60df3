#include "mutators/analysis/grid_runs/grid_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// How deep functions of the source call each other.
constexpr int kMostGridCalls = 6;

bool LoadsByPointer(std::string_view callee) {
  return callee == "__ldg" || callee == "__ldcg" || callee == "__ldca" || callee == "__ldcs" || callee == "__ldlu";
}

// `ceilf(log2f(n))` and `floorf(log2f(n))` of an integer.
struct WholeLogarithm {
  int of = -1;
  bool up = false;
};
std::optional<WholeLogarithm> RoundedLogarithm(const SyntaxTree& tree, std::string_view callee,
                                               const std::vector<int>& arguments) {
  const bool up = callee == "ceilf" || callee == "ceil";
  if ((!up && callee != "floorf" && callee != "floor") || arguments.size() != 1) return std::nullopt;
  int call = WithoutParentheses(tree, arguments[0]);
  while (IsConversion(tree, call) && !tree.node(call).children.empty()) call = tree.node(call).children.back();
  if (tree.node(call).kind_name != "CallExpr" || tree.node(call).children.size() != 2) return std::nullopt;
  const std::string_view logarithm = LibraryCallee(tree, call);
  if (logarithm != "log2f" && logarithm != "log2" && logarithm != "__log2f") return std::nullopt;
  int of = WithoutParentheses(tree, tree.node(call).children[1]);
  const auto is_real = [&](int node) { return tree.node(node).type.find("int") == std::string::npos; };
  while (is_real(of) && IsConversion(tree, of) && !tree.node(of).children.empty())
    of = WithoutParentheses(tree, tree.node(of).children.back());
  return is_real(of) ? std::nullopt : std::optional(WholeLogarithm{of, up});
}

}  // namespace

GridBlock::GridBlock(const SyntaxTree& tree, const ExpressionKinds& kinds, bool extents_known, GridConstants& constants,
                     GridMemories& memories, Refusal& refusal)
    : tree_(tree),
      memories_(memories),
      refusal_(refusal),
      variables_(tree, memories, extents_known, refusal),
      expressions_(tree, kinds, extents_known, constants, variables_, *this, refusal),
      flow_(tree, *this, refusal) {}

void GridBlock::Run(int kernel, const GridPosition& position, std::int64_t dynamic_bytes, const GridArguments& arguments) {
  memories_.StartBlock(position.lanes);
  variables_.StartBlock(position.lanes, dynamic_bytes, arguments);
  expressions_.StartBlock(position);
  returned_ = UnknownLanes(position.lanes);
  flow_.RunKernel(tree_.node(kernel).children.back(), position.lanes);
  memories_.EndBlock();
}

bool GridBlock::Enter(int statement, const LaneMask& mask) {
  const SyntaxNode& node = tree_.node(statement);
  if (node.kind_name != "ReturnStmt" || node.children.empty()) return true;
  const std::string& function = tree_.node(node.function).type;
  const LaneValues values = expressions_.EvaluateAs(function.substr(0, function.find(" (")), node.children.front(), mask);
  returned_.memory = values.memory;
  returned_.Take(values, mask);
  return true;
}

void GridBlock::Declare(int variable, const LaneMask& mask) {
  const SyntaxNode& node = tree_.node(variable);
  if (IsShared(tree_, variable) || node.type.ends_with("]")) return expressions_.DeclareArray(variable, mask);
  const auto& children = node.children;
  const int value = children.empty() || tree_.node(children.back()).type.empty() ? -1 : children.back();
  const bool typed = value >= 0 && tree_.node(value).kind_name != "TypeRef";
  if (node.type.ends_with("&") && typed) return variables_.Refer(variable, expressions_.PlaceOf(value, mask));
  const LaneValues values = typed ? expressions_.EvaluateAs(node.type, value, mask) : UnknownLanes(mask.size());
  if (!refusal_.given()) variables_.Declare(variable, values, mask);
}

void GridBlock::Barrier(const LaneMask& mask) {
  if (!flow_.IsWholeBlock(mask)) return refusal_.Add("not all threads of a block reach a barrier together");
  memories_.PassBarrier();
}

void GridBlock::WarpBarrier(const LaneMask& mask) {
  for (std::size_t warp = 0; warp * kWarpLanes < mask.size(); ++warp) {
    if (!AnyLaneOfWarp(mask, warp)) continue;
    if (!flow_.IsWholeWarp(mask, warp)) refusal_.Add("not all threads of a warp reach __syncwarp together");
    memories_.PassWarpBarrier(warp);
  }
}

LaneValues GridBlock::Call(int expression, const LaneMask& mask) {
  const auto& parts = tree_.node(expression).children;
  const int function = parts.empty() ? -1 : NamedDeclaration(tree_, parts.front());
  const std::vector<int> arguments(parts.begin() + (parts.empty() ? 0 : 1), parts.end());
  if (function >= 0 && tree_.node(function).kind_name == "FunctionDecl") return CallDefined(function, arguments, mask);
  const std::string_view callee = LibraryCallee(tree_, expression);
  if (!parts.empty() && !callee.empty()) return CallKnown(expression, callee, arguments, mask);
  return expressions_.Refuse(fmt::format("{} is not understood", Quoted(tree_, expression)));
}

// Gives a function's parameters what is passed for them.
bool GridBlock::Pass(const std::vector<int>& parameters, const std::vector<int>& arguments, const LaneMask& mask) {
  std::vector<LaneValues> values(arguments.size());
  std::vector<LanePlace> places(arguments.size());
  const auto by_reference = [&](std::size_t i) {
    const std::string& type = tree_.node(parameters[i]).type;
    return type.ends_with("&") && !type.starts_with("const ");
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (by_reference(i))
      places[i] = expressions_.PlaceOf(arguments[i], mask);
    else
      values[i] = expressions_.EvaluateAs(tree_.node(parameters[i]).type, arguments[i], mask);
  }
  if (refusal_.given()) return false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (by_reference(i))
      variables_.Refer(parameters[i], std::move(places[i]));
    else
      variables_.Pass(parameters[i], std::move(values[i]));
  }
  return true;
}

LaneValues GridBlock::CallDefined(int function, const std::vector<int>& arguments, const LaneMask& mask) {
  const SyntaxNode& called = tree_.node(function);
  const bool defined = !called.children.empty() && tree_.node(called.children.back()).kind_name == "CompoundStmt";
  std::vector<int> parameters;
  for (const int child : called.children) {
    if (tree_.node(child).kind_name == "ParmDecl") parameters.push_back(child);
  }
  if (!defined || flow_.depth() >= kMostGridCalls || parameters.size() != arguments.size())
    return expressions_.Refuse(fmt::format("the function {} is not understood", called.name));
  if (!Pass(parameters, arguments, mask)) return UnknownLanes(mask.size());
  LaneValues outer = std::exchange(returned_, UnknownLanes(mask.size()));
  flow_.RunFunction(called.children.back(), mask);
  return std::exchange(returned_, std::move(outer));
}

LaneValues GridBlock::CallKnown(int expression, std::string_view callee, const std::vector<int>& arguments,
                                const LaneMask& mask) {
  const LaneValues nothing = UnknownLanes(mask.size());
  if (callee == "__syncthreads") return Barrier(mask), nothing;
  if (callee == "__syncwarp") return WarpBarrier(mask), nothing;
  if (callee == "__threadfence" || callee == "__threadfence_system") return memories_.PassFence(mask), nothing;
  if (callee == "__threadfence_block" || callee == "__nanosleep" || callee == "printf") return nothing;
  const bool atomic = callee == "atomicAdd" || callee == "atomicExch" || callee == "atomicInc";
  if (atomic && arguments.size() == 2) return Atomic(callee, arguments, mask);
  if (callee.starts_with("__shfl") && callee.ends_with("_sync") && arguments.size() >= 3) return Shuffle(callee, arguments, mask);
  if (LoadsByPointer(callee) && arguments.size() == 1) {
    LaneValues pointer = expressions_.Evaluate(arguments.front(), mask);
    if (pointer.memory >= 0)
      return variables_.Load({-1, pointer.memory, std::move(pointer.numbers), MemoryAccess::kPlain, pointer.width}, mask);
  }
  if (callee.starts_with("make_")) return expressions_.MakeVector(callee.substr(5), arguments, expression, mask);
  if ((callee == "min" || callee == "max") && arguments.size() == 2) {
    LaneValues a = expressions_.Evaluate(arguments[0], mask);
    const LaneValues b = expressions_.Evaluate(arguments[1], mask);
    return expressions_.Checked(ExtremeNumbers(callee == "max", std::move(a), b, mask), expression);
  }
  if (const auto logarithm = RoundedLogarithm(tree_, callee, arguments)) {
    LaneValues values = expressions_.Evaluate(logarithm->of, mask);
    for (std::size_t lane = 0; lane < values.numbers.size(); ++lane) {
      const std::int64_t own = values.numbers[lane];
      if (values.known[lane] != Knowledge::kKnown || own < 1) values.known[lane] = Knowledge::kUnknown;
      const auto number = static_cast<std::uint64_t>(std::max<std::int64_t>(1, own));
      values.numbers[lane] = logarithm->up ? std::bit_width(number - 1) : std::bit_width(number) - 1;
    }
    return values;
  }
  return expressions_.Refuse(fmt::format("it calls {}, which is not known here", callee));
}

// An atomic that adds zero only reads.
LaneValues GridBlock::Atomic(std::string_view callee, const std::vector<int>& arguments, const LaneMask& mask) {
  const LaneValues pointer = expressions_.Evaluate(arguments[0], mask);
  const LaneValues values = expressions_.Evaluate(arguments[1], mask);
  if (refusal_.given()) return UnknownLanes(mask.size());
  if (pointer.memory < 0 || pointer.width > 1 || values.memory >= 0)
    return expressions_.Refuse(fmt::format("{} is not understood", Quoted(tree_, arguments[0])));
  bool nothing = callee == "atomicAdd";
  for (std::size_t lane = 0; lane < mask.size(); ++lane) {
    if (!mask[lane]) continue;
    if (pointer.known[lane] != Knowledge::kKnown)
      return expressions_.Refuse(fmt::format("data decides the place {}", Quoted(tree_, arguments[0])));
    nothing = nothing && values.known[lane] == Knowledge::kKnown && values.numbers[lane] == 0;
  }
  if (nothing) return variables_.Load({-1, pointer.memory, pointer.numbers, expressions_.Strong()}, mask);
  const AtomicChange change = callee == "atomicAdd"   ? AtomicChange::kAdd
                              : callee == "atomicInc" ? AtomicChange::kIncrement
                                                      : AtomicChange::kExchange;
  return memories_.Change(change, pointer.memory, pointer.numbers, values, mask);
}

LaneValues GridBlock::Shuffle(std::string_view callee, const std::vector<int>& arguments, const LaneMask& mask) {
  const LaneValues values = expressions_.Evaluate(arguments[1], mask), by = expressions_.Evaluate(arguments[2], mask);
  const LaneValues width = arguments.size() > 3 ? expressions_.Evaluate(arguments[3], mask) : LaneValues(mask.size(), kWarpLanes);
  auto shuffled = ShuffledLanes(callee, values, by, width, mask);
  return shuffled ? std::move(*shuffled) : expressions_.Refuse(fmt::format("the lanes of {} are not understood", callee));
}

}  // namespace evo
