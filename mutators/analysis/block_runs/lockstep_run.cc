#include "mutators/analysis/block_runs/lockstep_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mutators/analysis/source/atomic_combination.h"
#include "mutators/analysis/source/combination.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

// Statements that a block may execute; a loop that does not end is found by it.
constexpr int kMostSteps = 20000;

bool IsSpelledZero(std::string_view text) {
  return text == "0" || text == "0.0" || text == "0.0f" || text == "0.f" || text == "0.";
}

}  // namespace

LockstepRun::LockstepRun(const SyntaxTree& tree, int kernel, const ReductionElements& elements, const RunSetting& setting)
    : tree_(tree),
      kernel_(kernel),
      elements_(elements),
      lanes_(static_cast<std::size_t>(setting.threads)),
      integers_(tree, setting, refusal_),
      flow_(tree, *this, refusal_, kMostSteps),
      data_(tree, elements, integers_, flow_, lanes_, refusal_),
      stored_(tree, elements, data_, refusal_) {}

BlockRun LockstepRun::Run() {
  flow_.RunKernel(tree_.node(kernel_).children.back(), lanes_);
  run_.refusal = refusal_.why();
  for (auto& [place, part] : run_.parts) {
    part.combines = data_.texts().combines.In(part.value.combines);
    part.initials = data_.texts().initials.In(part.value.initials);
    part.types = data_.texts().types.In(part.value.types);
  }
  return std::move(run_);
}

void LockstepRun::NotUnderstood(int node) { refusal_.Add(fmt::format("{} is not understood", Quoted(tree_, node))); }

bool LockstepRun::Enter(int statement, const LaneMask& mask) {
  const SyntaxNode& node = tree_.node(statement);
  if (node.kind_name == "IfStmt") return !TakesExtreme(statement, mask) && !AddsUnlessZero(statement, mask);
  if (node.kind_name == "ForStmt" || node.kind_name == "WhileStmt" || node.kind_name == "DoStmt") return !HasJump(statement);
  for (const int child : node.children) {
    if (node.kind_name != "DeclStmt" || tree_.node(child).kind_name == "VarDecl") continue;
    return NotUnderstood(child), false;  // a type
  }
  return true;
}

bool LockstepRun::HasJump(int loop) {
  for (const int inner : Subtree(tree_, loop)) {
    const std::string& kind = tree_.node(inner).kind_name;
    if (kind != "BreakStmt" && kind != "ContinueStmt" && kind != "GotoStmt") continue;
    refusal_.Add(fmt::format("a loop has {}", Quoted(tree_, inner)));
    return true;
  }
  return false;
}

// Whether it is `if (t < s && a[t] < a[t + s]) a[t] = a[t + s];` and the like, or one with an `else` that stores the other of the
// two, which is done then.
bool LockstepRun::TakesExtreme(int statement, const LaneMask& mask) {
  const auto& parts = tree_.node(statement).children;
  const int only = OnlyStatement(tree_, parts[1]), other = parts.size() == 3 ? OnlyStatement(tree_, parts[2]) : -1;
  if (only < 0 || tree_.Operator(only) != "=" || (parts.size() == 3 && (other < 0 || tree_.Operator(other) != "="))) return false;
  const int target = tree_.node(only).children[0], value = tree_.node(only).children[1];
  const auto same = [&](int a, int b) { return SameTokens(tree_.Text(a), tree_.Text(b)); };
  if (other >= 0 && !same(tree_.node(other).children[0], target)) return false;
  const int kept = other < 0 ? target : tree_.node(other).children[1];
  int condition = WithoutParentheses(tree_, parts[0]);
  std::vector<int> guards;
  while (other < 0 && tree_.Operator(condition) == "&&") {
    guards.push_back(tree_.node(condition).children[0]);
    condition = WithoutParentheses(tree_, tree_.node(condition).children[1]);
  }
  const auto& sides = tree_.node(condition).children;
  const std::string_view spelled = tree_.Operator(condition);
  if (sides.size() != 2 || (!spelled.starts_with("<") && !spelled.starts_with(">")) || spelled.size() > 2) return false;
  if (!LoadsIn(tree_, condition) && !elements_.IsPartial(NamedDeclaration(tree_, target))) return false;
  const bool forward = same(sides[0], kept) && same(sides[1], value);
  const bool backward = same(sides[1], kept) && same(sides[0], value);
  if (spelled == "<<" || spelled == ">>" || (!forward && !backward)) return false;
  LaneMask where = mask;
  for (const int guard : guards) where = integers_.Where(guard, where);
  const bool max = forward == spelled.starts_with("<");
  const Partials old = data_.Evaluate(kept, where), larger = data_.Evaluate(value, where);
  data_.Store(target, data_.Combined(max ? "max" : "min", old, larger, where), where);
  return true;
}

// Whether it is `if (t == 0 && count > 0) atomicAdd(out, count);`, which is done then: nothing is left out where it adds nothing.
bool LockstepRun::AddsUnlessZero(int statement, const LaneMask& mask) {
  const auto& parts = tree_.node(statement).children;
  const int only = parts.size() == 2 ? OnlyStatement(tree_, parts[1]) : -1;
  if (only < 0 || LibraryCallee(tree_, only) != "atomicAdd" || tree_.node(only).children.size() != 3) return false;
  const int value = tree_.node(only).children[2];
  std::vector<int> open{parts[0]}, zeros;
  LaneMask where = mask;
  while (!open.empty()) {
    const int condition = WithoutParentheses(tree_, open.back());
    open.pop_back();
    const auto named = NamedIn(tree_, condition);
    const bool data = std::any_of(named.begin(), named.end(), [&](int d) { return elements_.IsPartial(d); });
    if (tree_.Operator(condition) == "&&") {
      const auto& sides = tree_.node(condition).children;
      open.insert(open.end(), sides.rbegin(), sides.rend());
    } else if (data || NamesShared(tree_, condition)) {
      zeros.push_back(condition);
    } else {
      where = integers_.Where(condition, where);
    }
  }
  if (zeros.empty() || refusal_.given()) return false;
  const Partials values = data_.Evaluate(value, where);
  for (const int condition : zeros) {
    if (!IsNotZero(condition, value, values, where)) return false;
  }
  Atomic(WithoutParentheses(tree_, only), where);
  return true;
}

// `count`, `count != 0`, or `count > 0` of one that cannot be negative; also `votes != 0` where `__popc(votes)` is added.
bool LockstepRun::IsNotZero(int condition, int value, const Partials& values, const LaneMask& mask) {
  if (LibraryCallee(tree_, value) == "__popc" && IsNotZero(condition, tree_.node(value).children[1], values, mask)) return true;
  const auto same = [&](int a, int b) { return SameTokens(tree_.Text(a), tree_.Text(b)); };
  if (same(condition, value)) return true;
  const std::string_view spelled = tree_.Operator(condition);
  const auto& sides = tree_.node(condition).children;
  if (sides.size() != 2 || !same(sides[0], value) || !IsSpelledZero(tree_.Text(sides[1]))) return false;
  if (spelled != ">") return spelled == "!=";
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (mask[lane] && !data_.IsCount(values[lane])) return false;
  }
  return true;
}

void LockstepRun::Compute(int expression, const LaneMask& mask) {
  const int node = WithoutParentheses(tree_, expression);
  if (IsBlockBarrier(tree_, node)) {
    if (!flow_.IsWholeBlock(mask)) return refusal_.Add("not all threads of a block reach a barrier together");
    data_.PassBarrier();
  } else if (LibraryCallee(tree_, node) == "__syncwarp") {
    WarpBarrier(mask);
  } else if (IsAtomicCall(tree_, node)) {
    Atomic(node, mask);
  } else if (IsAssignment(tree_, node)) {
    Assign(node, mask);
  } else if (IsCount(tree_, node)) {
    Count(node, mask);
  } else if (tree_.Operator(node) == ",") {
    for (const int side : tree_.node(node).children) Compute(side, mask);
  } else if (!IsPure(tree_, node)) {
    NotUnderstood(node);
  }
}

void LockstepRun::WarpBarrier(const LaneMask& mask) {
  for (std::size_t warp = 0; warp * kWarpLanes < mask.size(); ++warp) {
    if (!AnyLaneOfWarp(mask, warp)) continue;
    if (!flow_.IsWholeWarp(mask, warp)) refusal_.Add("not all threads of a warp reach __syncwarp together");
    data_.PassWarpBarrier(warp);
  }
}

void LockstepRun::Count(int node, const LaneMask& mask) {
  const int variable = NamedDeclaration(tree_, tree_.node(node).children.front());
  if (!integers_.Knows(variable)) return NotUnderstood(node);
  integers_.Count(variable, tree_.Operator(node) == "++" ? 1 : -1, mask);
}

void LockstepRun::Declare(int variable, const LaneMask& mask) {
  const SyntaxNode& node = tree_.node(variable);
  if (IsShared(tree_, variable) || node.type.find('*') != std::string::npos) return;
  const auto& children = node.children;
  const int value = children.empty() || tree_.node(children.back()).type.empty() ? -1 : children.back();
  if (elements_.IsPartial(variable)) {
    const Refusal before = refusal_;
    data_.Declare(variable, value, mask);
    if (!refusal_.given()) return;
    // It may be computed of partial results, `sum / n`.
    const Refusal why = std::exchange(refusal_, before);
    data_.Forget(variable);
    if (!stored_.Compute(variable, value, mask)) refusal_ = why;
    return;
  }
  const std::string type = WithoutConst(node.type);
  if (value < 0 || !IsArithmetic(type) || type == "float" || type == "double") return;
  // A variable that is not known may still be one that does not matter here.
  const Refusal before = refusal_;
  LockstepIntegers::Values values = integers_.Evaluate(value);
  if (refusal_.given()) {
    refusal_ = before;
    integers_.Forget(variable);
  } else {
    integers_.Declare(variable, std::move(values));
  }
}

// What is stored: of `a = b = c`, `b` after its assignment.
int LockstepRun::StoredValue(int node, const LaneMask& mask) {
  const int value = WithoutParentheses(tree_, tree_.node(node).children[1]);
  if (tree_.Operator(value) != "=" || !IsAssignment(tree_, value)) return tree_.node(node).children[1];
  Assign(value, mask);
  return tree_.node(value).children[0];
}

void LockstepRun::Assign(int node, const LaneMask& mask) {
  const int target = tree_.node(node).children[0], value = StoredValue(node, mask);
  if (refusal_.given()) return;
  const int variable = NamedDeclaration(tree_, WithoutMembers(tree_, target));
  const std::string_view spelled = tree_.Operator(node);
  const std::string_view fold = spelled.substr(0, spelled.size() - 1);
  const bool local = variable >= 0 && tree_.node(variable).kind_name == "VarDecl" && !IsShared(tree_, variable);
  if (local && !elements_.IsPartial(variable)) {
    const LockstepIntegers::Values values = spelled == "=" ? integers_.Evaluate(value) : integers_.Operation(node, fold);
    if (!refusal_.given()) integers_.Assign(variable, values, mask);
    return;
  }
  if (!local && !NamesShared(tree_, target)) {
    if (spelled == "=") return Store(node, target, value, "", mask);
    return refusal_.Add(fmt::format("{} changes global memory without an atomic", Quoted(tree_, node)));
  }
  if (spelled != "=" && !IsFold(fold)) return NotUnderstood(node);
  data_.Assign(target, fold, value, mask);
}

void LockstepRun::Atomic(int call, const LaneMask& mask) {
  const auto& parts = tree_.node(call).children;
  const std::string combine = AtomicCombine(tree_, call);
  if (combine.empty()) return NotUnderstood(call);
  if (!NamesShared(tree_, parts[1])) return Store(call, parts[1], parts[2], combine, mask);
  const int target = WithoutParentheses(tree_, parts[1]);
  const auto& inner = tree_.node(target).children;
  const bool address = tree_.Operator(target) == "&" && inner.size() == 1;
  data_.AddAtomically(address ? inner.front() : target, combine, data_.Evaluate(parts[2], mask), mask);
}

void LockstepRun::Store(int statement, int target, int value, std::string_view combine, const LaneMask& mask) {
  StoredParts::Parts parts;
  if (!stored_.Find(value, mask, parts, run_.declarations) || refusal_.given()) return;
  BlockRun::Output& output = run_.outputs[statement];
  const int place = WithoutParentheses(tree_, target);
  if (tree_.node(place).kind_name == "ArraySubscriptExpr") {
    const LockstepIntegers::Values index = integers_.Evaluate(tree_.node(place).children[1]);
    output.at.reset();
    for (std::size_t lane = 0; lane < lanes_ && !refusal_.given(); ++lane) {
      if (mask[lane]) output.at = index[lane];
    }
    refusal_ = {};  // an index that is not known may be right all the same
  }
  for (std::size_t lane = 0; lane < lanes_; ++lane) output.stores += mask[lane];
  // A part that is named twice counts once.
  std::set<int> known;
  for (const auto& [node, values] : parts) {
    if (!known.insert(node).second) continue;
    BlockRun::Part& part = run_.parts[{statement, node}];
    Partial& all = part.value;
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      if (!mask[lane]) continue;
      const Partial one = combine.empty() ? values[lane] : data_.AlsoCombined(values[lane], combine);
      if (!part.first.defined) part.first = one;
      part.same = part.same && part.first.elements == one.elements && part.first.count == one.count;
      all = {all.elements + one.elements, all.count + one.count,      true, all.kinds | one.kinds, all.combines | one.combines,
             all.types | one.types,       all.initials | one.initials};
    }
  }
}

}  // namespace evo
