#include "mutators/analysis/block_runs/block_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "mutators/analysis/numbers/integer_arithmetic.h"
#include "mutators/analysis/source/atomic_combination.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// Statements that a group may execute; a loop that does not end is found by it.
constexpr int kMostGroupSteps = 4000;
// Relative; the numbers are doubles.
constexpr double kGroupTolerance = 1e-9;

}  // namespace

BlockNumbers::BlockNumbers(const SyntaxTree& tree, RowGroup group)
    : tree_(tree),
      group_(std::move(group)),
      make_(group_.lanes()),
      flow_(tree, *this, refusal_, kMostGroupSteps),
      memory_(tree, make_, refusal_),
      masks_{LaneMask(group_.lanes(), 1)} {}

ThreadNumbers BlockNumbers::NotUnderstood(int node) {
  refusal_.Add(fmt::format("{} is not understood", Quoted(tree_, node)));
  return make_.Unknown();
}

void BlockNumbers::Run(int statement) {
  if (refusal_.given()) return;
  if (AllOn()) return flow_.RunKernel(statement, make_.lanes());
  // A function's statements are executed by some threads only, and there is no barrier for them.
  for (const int node : Subtree(tree_, statement)) {
    if (IsBlockBarrier(tree_, node)) return refusal_.Add("not all threads of a block reach a barrier together");
  }
  flow_.RunKernel(-1, make_.lanes());
  flow_.RunFunction(statement, masks_.back());
}

bool BlockNumbers::Restrict(int condition, bool inverse) {
  const LaneMask where = Where(condition, masks_.back());
  masks_.push_back(inverse ? Without(masks_.back(), where) : where);
  return !refusal_.given();
}

std::optional<std::vector<double>> BlockNumbers::IndicesOf(int expression) {
  const ThreadNumbers values = Evaluate(expression, masks_.back());
  const bool known = std::find(values.known.begin(), values.known.end(), 0) == values.known.end();
  return known && !refusal_.given() && !make_.IsOfData(values, masks_.back()) ? std::optional(values.numbers) : std::nullopt;
}

std::optional<double> BlockNumbers::ConstantOf(int node) {
  std::optional<std::vector<double>> numbers;
  if (tree_.node(node).kind_name != "VarDecl") {
    numbers = IndicesOf(node);
  } else if (const auto held = variables_.find(node); held != variables_.end()) {
    const bool known = std::find(held->second.known.begin(), held->second.known.end(), 0) == held->second.known.end();
    if (known && !make_.IsOfData(held->second, masks_.back())) numbers = held->second.numbers;
  }
  if (!numbers) return std::nullopt;
  const auto same = [&](double number) { return number == numbers->front(); };
  return std::all_of(numbers->begin(), numbers->end(), same) ? std::optional(numbers->front()) : std::nullopt;
}

bool BlockNumbers::AllOn() const {
  return std::all_of(masks_.back().begin(), masks_.back().end(), [](char on) { return on != 0; });
}

bool BlockNumbers::OnlyFirstOn() const {
  return masks_.back().front() != 0 &&
         std::count(masks_.back().begin(), masks_.back().end(), 0) + 1 == static_cast<int>(make_.lanes());
}

void BlockNumbers::SetOwn(int variable, std::vector<double> numbers) { variables_[variable] = make_.Own(std::move(numbers)); }

void BlockNumbers::SetSame(int node, double number, bool stands_for) {
  ThreadNumbers values = stands_for ? make_.StandIn(number) : make_.Constant(number);
  if (tree_.node(node).kind_name != "VarDecl") return Store(node, std::move(values), masks_.back());
  make_.Take(variables_.try_emplace(node, make_.Unknown()).first->second, values, masks_.back());
}

void BlockNumbers::Copy(int node, int expression) {
  ThreadNumbers values = Evaluate(expression, masks_.back());
  if (tree_.node(node).kind_name != "VarDecl") return Store(node, std::move(values), masks_.back());
  make_.Take(variables_.try_emplace(node, make_.Unknown()).first->second, values, masks_.back());
}

bool BlockNumbers::Has(int node, double number, bool of_all, bool reads) {
  const LaneMask& mask = masks_.back();
  ThreadNumbers values = make_.Unknown();
  const int declaration = tree_.node(node).kind_name == "VarDecl" ? node : NamedDeclaration(tree_, node);
  if (declaration >= 0 && variables_.contains(declaration))
    values = variables_.at(declaration);
  else if (const auto place = PlaceOf(node, mask))
    values = memory_.Load(*place, mask, reads);
  if (refusal_.given()) return false;
  for (std::size_t lane = 0; lane < make_.lanes(); ++lane) {
    if (mask[lane] == 0) continue;
    const double held = values.numbers[lane];
    const bool same = held == number || std::fabs(held - number) <= kGroupTolerance * (1 + std::fabs(number));
    if (values.known[lane] == 0 || !same || (of_all && !make_.IsOfAll(values, lane))) return false;
  }
  return true;
}

bool BlockNumbers::Enter(int statement, const LaneMask& mask) {
  if (statement < 0) return false;
  const SyntaxNode& node = tree_.node(statement);
  if (node.kind_name == "ReturnStmt" || node.kind_name == "GotoStmt") {
    NotUnderstood(statement);
    return false;
  }
  if (node.kind_name != "IfStmt" || node.children.size() < 2 || node.children.size() > 3) return true;
  int condition = WithoutParentheses(tree_, node.children[0]);
  ThreadNumbers values = Evaluate(condition, mask);
  if (refusal_.given() || !make_.IsOfData(values, mask)) return !refusal_.given();
  // Of `t < s && a[t] < a[t + s]` only the second part is a matter of the threads' numbers.
  LaneMask on = mask;
  while (node.children.size() == 2 && tree_.Operator(condition) == "&&") {
    const auto& sides = tree_.node(condition).children;
    if (make_.IsOfData(Evaluate(sides[0], on), on)) break;
    on = Where(sides[0], on);
    condition = WithoutParentheses(tree_, sides[1]);
    values = Evaluate(condition, on);
  }
  Select(statement, values, on);
  return false;
}

// An `if` that depends on threads' own numbers: each assignment keeps the old value or takes the new one.
void BlockNumbers::Select(int statement, const ThreadNumbers& condition, const LaneMask& mask) {
  const auto& parts = tree_.node(statement).children;
  Selection selection{LaneMask(make_.lanes(), 0), condition.of};
  for (std::size_t lane = 0; lane < make_.lanes(); ++lane) {
    if (mask[lane] == 0) continue;
    if (condition.known[lane] == 0) return void(NotUnderstood(parts[0]));
    selection.yes[lane] = condition.numbers[lane] != 0 ? 1 : 0;
  }
  if (make_.IsOfStandIn(condition, mask)) return void(NotUnderstood(parts[0]));
  if (!selections_.empty()) {
    ThreadNumbers both = condition;
    make_.Mix(both, selections_.back().of);
    selection.of = both.of;
  }
  const LaneMask outer = selections_.empty() ? mask : selections_.back().yes;
  Selection other{Without(outer, selection.yes), selection.of};
  for (std::size_t lane = 0; lane < make_.lanes(); ++lane) selection.yes[lane] = selection.yes[lane] != 0 && outer[lane] != 0;
  selections_.push_back(std::move(selection));
  Select(parts[1], mask);
  if (parts.size() == 3) {
    selections_.back() = std::move(other);
    Select(parts[2], mask);
  }
  selections_.pop_back();
}

void BlockNumbers::Select(int statement, const LaneMask& mask) {
  const SyntaxNode& node = tree_.node(statement);
  if (refusal_.given()) return;
  if (node.kind_name == "CompoundStmt") {
    for (const int child : node.children) Select(child, mask);
  } else if (node.kind_name == "DeclStmt") {
    for (const int child : node.children) Declare(child, mask);
  } else if (node.kind_name == "IfStmt" && (node.children.size() == 2 || node.children.size() == 3)) {
    Select(statement, Evaluate(node.children[0], mask), mask);
  } else if (IsAssignment(tree_, statement)) {
    Compute(statement, mask);
  } else if (node.kind_name != "NullStmt") {
    NotUnderstood(statement);
  }
}

LaneMask BlockNumbers::Where(int condition, const LaneMask& mask) {
  const ThreadNumbers values = Evaluate(condition, mask);
  LaneMask where(make_.lanes(), 0);
  if (make_.IsOfData(values, mask)) NotUnderstood(condition);
  for (std::size_t lane = 0; lane < make_.lanes() && !refusal_.given(); ++lane) {
    if (mask[lane] != 0 && values.known[lane] == 0) NotUnderstood(condition);
    where[lane] = mask[lane] != 0 && values.numbers[lane] != 0;
  }
  return where;
}

void BlockNumbers::Declare(int variable, const LaneMask& mask) {
  const SyntaxNode& node = tree_.node(variable);
  if (node.kind_name != "VarDecl") return void(NotUnderstood(variable));
  if (IsShared(tree_, variable)) return;
  const int value = node.children.empty() || tree_.node(node.children.back()).type.empty() ? -1 : node.children.back();
  if (node.type.find('*') != std::string::npos) {
    int start = value < 0 ? -1 : WithoutParentheses(tree_, value);
    pointers_.erase(variable);
    if (start < 0 || WrittenIn(tree_, tree_.node(variable).function).contains(variable)) return;
    GroupPlace place{-1, std::vector<std::int64_t>(make_.lanes())};
    const auto move = [&](int by) {
      const ThreadNumbers index = Evaluate(by, mask);
      for (std::size_t lane = 0; lane < make_.lanes(); ++lane) {
        place.index[lane] += static_cast<std::int64_t>(index.numbers[lane]);
        if (mask[lane] != 0 && (index.known[lane] == 0 || make_.IsOfData(index, mask))) place.array = -1;
      }
    };
    std::vector<int> moves;
    const bool address = tree_.Operator(start) == "&" && tree_.node(start).children.size() == 1;
    if (address) start = WithoutParentheses(tree_, tree_.node(start).children.front());
    while ((tree_.Operator(start) == "+" || tree_.node(start).kind_name == "ArraySubscriptExpr") &&
           tree_.node(start).children.size() == 2) {
      moves.push_back(tree_.node(start).children[1]);
      start = WithoutParentheses(tree_, tree_.node(start).children[0]);
    }
    const int named = NamedDeclaration(tree_, start);
    if (named < 0) return;
    const bool flat = std::count(tree_.node(named).type.begin(), tree_.node(named).type.end(), '[') == 1;
    if (pointers_.contains(named))
      place = pointers_.at(named);
    else if (tree_.node(named).kind_name == "VarDecl" && IsShared(tree_, named) && flat)
      place.array = named;
    if (place.array < 0) return;
    for (const int by : moves) move(by);
    if (place.array >= 0) pointers_[variable] = std::move(place);
    return;
  }
  if (!IsArithmetic(WithoutConst(node.type)) && WithoutConst(node.type) != "bool") return void(variables_.erase(variable));
  ThreadNumbers& held = variables_.try_emplace(variable, make_.Unknown()).first->second;
  held = value < 0 ? make_.Unknown() : Evaluate(value, mask);
}

void BlockNumbers::Compute(int expression, const LaneMask& mask) {
  const int node = WithoutParentheses(tree_, expression);
  if (IsBlockBarrier(tree_, node)) {
    if (!flow_.IsWholeBlock(mask)) return refusal_.Add("not all threads of a block reach a barrier together");
    memory_.PassBarrier();
  } else if (LibraryCallee(tree_, node) == "__syncwarp") {
    for (std::size_t warp = 0; warp * kWarpLanes < make_.lanes(); ++warp) {
      if (AnyLaneOfWarp(mask, warp)) memory_.PassWarpBarrier(warp);
      for (std::size_t lane = warp * kWarpLanes; lane < std::min(make_.lanes(), (warp + 1) * kWarpLanes); ++lane) {
        if (AnyLaneOfWarp(mask, warp) && mask[lane] == 0) refusal_.Add("not all threads of a warp reach __syncwarp together");
      }
    }
  } else if (IsAtomicCall(tree_, node)) {
    Atomic(node, mask);
  } else if (IsAssignment(tree_, node)) {
    const std::string_view spelled = tree_.Operator(node);
    const auto& sides = tree_.node(node).children;
    if (const int value = WithoutParentheses(tree_, sides[1]); IsAssignment(tree_, value)) return void(NotUnderstood(node));
    Store(sides[0], spelled == "=" ? Evaluate(sides[1], mask) : Binary(node, spelled.substr(0, spelled.size() - 1), mask), mask);
  } else if (IsCount(tree_, node)) {
    const int target = tree_.node(node).children.front();
    Store(target,
          make_.Combined(PlainType(tree_.node(target).type), tree_.Operator(node) == "++" ? "+" : "-", Evaluate(target, mask),
                         make_.Constant(1)),
          mask);
  } else if (tree_.Operator(node) == ",") {
    for (const int side : tree_.node(node).children) Compute(side, mask);
  } else if (!IsPure(tree_, node)) {
    NotUnderstood(node);
  }
}

}  // namespace evo
