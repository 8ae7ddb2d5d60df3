#include "mutators/analysis/lockstep_run.h"

#include <fmt/format.h>

#include <utility>

#include "mutators/analysis/combination.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/shared_array.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/work_sharing.h"

namespace evo {
namespace {

// Statements that a block may execute; a loop that does not end is found by it.
constexpr int kMostSteps = 20000;

}  // namespace

LockstepRun::LockstepRun(const SyntaxTree& tree, int kernel, const ReductionElements& elements, const RunSetting& setting)
    : tree_(tree),
      kernel_(kernel),
      elements_(elements),
      lanes_(static_cast<std::size_t>(setting.threads)),
      integers_(tree, setting, refusal_),
      data_(tree, elements, integers_, lanes_, refusal_),
      flow_(tree, *this, refusal_, kMostSteps) {}

BlockRun LockstepRun::Run() {
  flow_.RunKernel(tree_.node(kernel_).children.back(), lanes_);
  run_.refusal = refusal_.why();
  run_.initials = data_.initials();
  run_.combines = data_.combines();
  return std::move(run_);
}

void LockstepRun::NotUnderstood(int node) { refusal_.Add(fmt::format("{} is not understood", Quoted(tree_, node))); }

bool LockstepRun::Enter(int statement, const LaneMask& mask) {
  const SyntaxNode& node = tree_.node(statement);
  if (node.kind_name == "IfStmt") return !TakesExtreme(statement, mask);
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

// Whether it is `if (a[t] < a[t + s]) a[t] = a[t + s];` and the like, which is done then.
bool LockstepRun::TakesExtreme(int statement, const LaneMask& mask) {
  const auto& parts = tree_.node(statement).children;
  const int condition = WithoutParentheses(tree_, parts[0]);
  const int only = OnlyStatement(tree_, parts[1]);
  const auto& sides = tree_.node(condition).children;
  const std::string_view spelled = tree_.Operator(condition);
  if (parts.size() != 2 || only < 0 || tree_.Operator(only) != "=" || sides.size() != 2) return false;
  const int target = tree_.node(only).children[0], value = tree_.node(only).children[1];
  if (!LoadsIn(tree_, parts[0]) && !elements_.IsPartial(NamedDeclaration(tree_, target))) return false;
  const auto same = [&](int a, int b) { return SameTokens(tree_.Text(a), tree_.Text(b)); };
  const bool forward = same(sides[0], target) && same(sides[1], value);
  const bool backward = same(sides[1], target) && same(sides[0], value);
  if ((!forward && !backward) || (!spelled.starts_with("<") && !spelled.starts_with(">"))) return false;
  const bool max = forward == spelled.starts_with("<");
  const Partials old = data_.Evaluate(target, mask), other = data_.Evaluate(value, mask);
  const Partials both = data_.Combined(max ? "max" : "min", old, other, mask);
  if (refusal_.given()) return true;
  if (const int variable = NamedDeclaration(tree_, target); variable >= 0 && !IsShared(tree_, variable))
    data_.Assign(variable, both, mask);
  else if (const auto place = data_.PlaceOf(target))
    data_.shared().Write(*place, both, mask);
  return true;
}

void LockstepRun::Compute(int expression, const LaneMask& mask) {
  const int node = WithoutParentheses(tree_, expression);
  if (IsBlockBarrier(tree_, node)) {
    if (!flow_.IsWholeBlock(mask)) return refusal_.Add("not all threads of a block reach a barrier together");
    data_.shared().PassBarrier();
  } else if (LibraryCallee(tree_, node) == "__syncwarp") {
    WarpBarrier(mask);
  } else if (LibraryCallee(tree_, node).starts_with("atomic")) {
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
    data_.shared().PassWarpBarrier(warp);
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
  if (elements_.IsPartial(variable)) return data_.Declare(variable, value < 0 ? Partials(lanes_) : data_.Evaluate(value, mask));
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
  const int variable = NamedDeclaration(tree_, target);
  if (variable >= 0 && tree_.node(variable).kind_name == "VarDecl" && !IsShared(tree_, variable))
    return AssignVariable(node, variable, value, mask);
  const std::string_view spelled = tree_.Operator(node);
  const auto place = NamesShared(tree_, target) ? data_.PlaceOf(target) : std::nullopt;
  if (refusal_.given()) return;
  if (!place) {
    if (spelled == "=") return Store(node, target, value, mask);
    return refusal_.Add(fmt::format("{} changes global memory without an atomic", Quoted(tree_, node)));
  }
  const std::string_view fold = spelled.substr(0, spelled.size() - 1);
  if (spelled != "=" && !IsFold(fold)) return NotUnderstood(node);
  Partials values = data_.Evaluate(value, mask);
  if (spelled != "=" && !refusal_.given()) values = data_.Combined(fold, data_.Evaluate(target, mask), values, mask);
  if (!refusal_.given()) data_.shared().Write(*place, values, mask);
}

void LockstepRun::AssignVariable(int node, int variable, int value, const LaneMask& mask) {
  const std::string_view spelled = tree_.Operator(node);
  if (elements_.IsPartial(variable)) {
    Partials values = data_.Evaluate(value, mask);
    const std::string_view fold = spelled.substr(0, spelled.size() - 1);
    if (IsFold(fold) && !refusal_.given())
      values = data_.Combined(fold, data_.OfVariable(variable, mask), values, mask);
    else if (spelled != "=")
      NotUnderstood(node);
    if (!refusal_.given()) data_.Assign(variable, values, mask);
    return;
  }
  const LockstepIntegers::Values values =
      spelled == "=" ? integers_.Evaluate(value) : integers_.Operation(node, spelled.substr(0, spelled.size() - 1));
  if (!refusal_.given()) integers_.Assign(variable, values, mask);
}

void LockstepRun::Atomic(int call, const LaneMask& mask) {
  const auto& parts = tree_.node(call).children;
  const auto callee = LibraryCallee(tree_, call);
  const char* combine = callee == "atomicAdd"   ? "+"
                        : callee == "atomicMax" ? "max"
                        : callee == "atomicMin" ? "min"
                        : callee == "atomicXor" ? "^"
                        : callee == "atomicAnd" ? "&"
                        : callee == "atomicOr"  ? "|"
                                                : nullptr;
  if (combine == nullptr || parts.size() != 3) return NotUnderstood(call);
  data_.AddCombine(combine);
  if (!NamesShared(tree_, parts[1])) return Store(call, parts[1], parts[2], mask);
  const int target = WithoutParentheses(tree_, parts[1]);
  const auto& inner = tree_.node(target).children;
  const bool address = tree_.Operator(target) == "&" && inner.size() == 1;
  const auto place = data_.PlaceOf(address ? inner.front() : target);
  const Partials values = data_.Evaluate(parts[2], mask);
  if (place && !refusal_.given()) data_.shared().Add(*place, values, mask);
}

// The part of a value that has all of its elements.
int LockstepRun::DataOf(int value) const {
  int data = -1;
  for (const int node : Subtree(tree_, value)) {
    const bool partial = elements_.IsPartial(NamedDeclaration(tree_, node)) && tree_.node(node).kind_name == "DeclRefExpr";
    if ((!partial && SharedArrayOf(tree_, node) < 0) || (data >= 0 && IsWithin(tree_, node, data))) continue;
    if (data < 0) data = node;
    while (!IsWithin(tree_, node, data)) data = tree_.node(data).parent;
  }
  return data < 0 ? value : data;
}

// Of a value that goes to global memory only its elements are known: `sum / n` has those of `sum`.
void LockstepRun::Store(int statement, int target, int value, const LaneMask& mask) {
  const int data = DataOf(value);
  const Partials values = data_.Evaluate(data, mask);
  if (refusal_.given()) return;
  run_.outputs.insert(statement);
  run_.data = data;
  const int place = WithoutParentheses(tree_, target);
  if (tree_.node(place).kind_name == "ArraySubscriptExpr") {
    const LockstepIntegers::Values index = integers_.Evaluate(tree_.node(place).children[1]);
    run_.at.reset();
    for (std::size_t lane = 0; lane < lanes_ && !refusal_.given(); ++lane) {
      if (mask[lane]) run_.at = index[lane];
    }
    refusal_ = {};  // an index that is not known may be right all the same
  }
  run_.result.defined = true;
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (!mask[lane]) continue;
    ++run_.stores;
    run_.result.elements += values[lane].elements;
    run_.result.count += values[lane].count;
    run_.result.initial = run_.result.initial || values[lane].initial;
  }
}

}  // namespace evo
