#include "mutators/analysis/lockstep_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/shared_array.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/work_sharing.h"

namespace evo {
namespace {

// Statements that a block may execute; a loop that does not end is found by it.
constexpr int kMostSteps = 20000;

bool Any(const std::vector<char>& mask) { return std::find(mask.begin(), mask.end(), 1) != mask.end(); }

bool IsExtremeOf(std::string_view callee, std::string_view which) {
  return callee == which || callee == fmt::format("f{}f", which) || callee == fmt::format("f{}", which);
}

}  // namespace

std::uint64_t FingerprintOf(std::int64_t element) {
  // The finaliser of splitmix64.
  std::uint64_t x = static_cast<std::uint64_t>(element) + 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

std::optional<Combination> CombinationOf(const SyntaxTree& tree, int expression) {
  const int node = WithoutParentheses(tree, expression);
  const auto& parts = tree.node(node).children;
  if (tree.Operator(node) == "+" && parts.size() == 2) return Combination{"+", parts[0], parts[1]};
  if (const auto callee = LibraryCallee(tree, node); parts.size() == 3 && !callee.empty()) {
    for (const char* which : {"max", "min"}) {
      if (IsExtremeOf(callee, which)) return Combination{which, parts[1], parts[2]};
    }
  }
  if (tree.node(node).kind_name != "ConditionalOperator" || parts.size() != 3) return std::nullopt;
  const int condition = WithoutParentheses(tree, parts[0]);
  const auto& sides = tree.node(condition).children;
  const std::string_view spelled = tree.Operator(condition);
  if (sides.size() != 2 || (!spelled.starts_with("<") && !spelled.starts_with(">")) || spelled.size() > 2) return std::nullopt;
  const auto same = [&](int a, int b) { return SameTokens(tree.Text(a), tree.Text(b)); };
  const bool greater = spelled.front() == '>';
  if (same(sides[0], parts[1]) && same(sides[1], parts[2])) return Combination{greater ? "max" : "min", parts[1], parts[2]};
  if (same(sides[1], parts[1]) && same(sides[0], parts[2])) return Combination{greater ? "min" : "max", parts[1], parts[2]};
  return std::nullopt;
}

LockstepRun::LockstepRun(const SyntaxTree& tree, int kernel, const ReductionElements& elements, const RunSetting& setting)
    : tree_(tree),
      kernel_(kernel),
      elements_(elements),
      setting_(setting),
      lanes_(static_cast<std::size_t>(setting.threads)),
      alive_(lanes_, 1) {}

BlockRun LockstepRun::Run() {
  Execute(tree_.node(kernel_).children.back(), alive_);
  return std::move(run_);
}

bool LockstepRun::Refuse(const std::string& why) {
  if (run_.refusal.empty()) run_.refusal = why;
  return false;
}

std::string LockstepRun::Quoted(int node) const {
  const std::string_view text = tree_.Text(node);
  return fmt::format("`{}`", text.substr(0, text.find('\n')));
}

void LockstepRun::Execute(int statement, Mask mask) {
  for (std::size_t lane = 0; lane < lanes_; ++lane) mask[lane] = mask[lane] && alive_[lane];
  if (refused() || !Any(mask)) return;
  if (++steps_ > kMostSteps) {
    Refuse("its loops do not end, or not soon");
    return;
  }
  const SyntaxNode& node = tree_.node(statement);
  if (node.kind_name == "CompoundStmt" || node.kind_name == "DeclStmt") {
    for (const int child : node.children) {
      if (tree_.node(child).kind_name == "VarDecl")
        Declare(child, mask);
      else
        Execute(child, mask);
    }
  } else if (node.kind_name == "IfStmt") {
    ExecuteIf(statement, mask);
  } else if (node.kind_name == "ForStmt" || node.kind_name == "WhileStmt" || node.kind_name == "DoStmt") {
    ExecuteLoop(statement, mask);
  } else if (node.kind_name == "ReturnStmt") {
    for (std::size_t lane = 0; lane < lanes_; ++lane) alive_[lane] = alive_[lane] && !mask[lane];
  } else if (!node.type.empty()) {
    ExecuteExpression(statement, mask);
  } else if (node.kind_name != "NullStmt" && node.kind_name != kPragmaKind) {
    Refuse(fmt::format("{} is not understood", Quoted(statement)));
  }
}

void LockstepRun::ExecuteIf(int statement, const Mask& mask) {
  const auto& parts = tree_.node(statement).children;
  const int condition = parts[0];
  // `if (a[t] < a[t + s]) a[t] = a[t + s];`
  const int only = OnlyStatement(tree_, parts[1]);
  const auto& sides = tree_.node(WithoutParentheses(tree_, condition)).children;
  const std::string_view spelled = tree_.Operator(WithoutParentheses(tree_, condition));
  if (parts.size() == 2 && only >= 0 && tree_.Operator(only) == "=" && sides.size() == 2 &&
      (LoadsIn(tree_, condition) || elements_.IsPartial(NamedDeclaration(tree_, tree_.node(only).children[0])))) {
    const int target = tree_.node(only).children[0], value = tree_.node(only).children[1];
    const auto same = [&](int a, int b) { return SameTokens(tree_.Text(a), tree_.Text(b)); };
    const bool forward = same(sides[0], target) && same(sides[1], value);
    const bool backward = same(sides[1], target) && same(sides[0], value);
    if ((forward || backward) && (spelled.starts_with("<") || spelled.starts_with(">"))) {
      const bool max = forward == spelled.starts_with("<");
      const Partials old = Data(target, mask), other = Data(value, mask);
      const Partials both = Combined(max ? "max" : "min", old, other, mask);
      if (refused()) return;
      if (const int variable = NamedDeclaration(tree_, target); variable >= 0 && !IsShared(tree_, variable)) {
        for (std::size_t lane = 0; lane < lanes_; ++lane) {
          if (mask[lane]) partials_[variable][lane] = both[lane];
        }
      } else if (const auto place = SharedPlace(target, mask)) {
        Write(*place, both, mask);
      }
      return;
    }
  }
  const Mask yes = Where(condition, mask);
  if (refused()) return;
  Execute(parts[1], yes);
  if (parts.size() < 3) return;
  Mask no = mask;
  for (std::size_t lane = 0; lane < lanes_; ++lane) no[lane] = mask[lane] && !yes[lane];
  Execute(parts[2], no);
}

void LockstepRun::ExecuteLoop(int statement, const Mask& mask) {
  const SyntaxNode& node = tree_.node(statement);
  for (const int inner : Subtree(tree_, statement)) {
    const std::string& kind = tree_.node(inner).kind_name;
    if (kind == "BreakStmt" || kind == "ContinueStmt" || kind == "GotoStmt") {
      Refuse(fmt::format("a loop has {}", Quoted(inner)));
      return;
    }
  }
  int condition = -1, body = -1, increment = -1;
  if (node.kind_name == "ForStmt") {
    const auto loop = AsForLoop(tree_, statement);
    if (!loop) {
      Refuse("a for loop has no start, condition or increment");
      return;
    }
    Execute(loop->init, mask);
    condition = loop->condition;
    body = loop->body;
    increment = loop->increment;
  } else {
    const bool first = node.kind_name == "DoStmt";
    condition = node.children[first ? 1 : 0];
    body = node.children[first ? 0 : 1];
    if (first) Execute(body, mask);
  }
  Mask on = mask;
  while (!refused()) {
    for (std::size_t lane = 0; lane < lanes_; ++lane) on[lane] = on[lane] && alive_[lane];
    if (!Any(on)) return;
    on = Where(condition, on);
    if (refused() || !Any(on)) return;
    Execute(body, on);
    if (increment >= 0) Execute(increment, on);
    if (++steps_ > kMostSteps) Refuse("its loops do not end, or not soon");
  }
}

bool LockstepRun::Barrier(const Mask& mask) {
  if (mask != alive_) return Refuse("not all threads of a block reach a barrier together");
  ++phase_;
  return true;
}

void LockstepRun::ExecuteExpression(int node, const Mask& mask) {
  node = WithoutParentheses(tree_, node);
  if (IsBlockBarrier(tree_, node)) {
    Barrier(mask);
  } else if (LibraryCallee(tree_, node).starts_with("atomic")) {
    Atomic(node, mask);
  } else if (IsAssignment(tree_, node)) {
    Assign(node, mask);
  } else if (IsCount(tree_, node)) {
    const int variable = NamedDeclaration(tree_, tree_.node(node).children.front());
    if (!integers_.contains(variable)) {
      Refuse(fmt::format("{} is not understood", Quoted(node)));
      return;
    }
    for (std::size_t lane = 0; lane < lanes_; ++lane)
      integers_[variable][lane] += !mask[lane] ? 0 : tree_.Operator(node) == "++" ? 1 : -1;
  } else if (tree_.Operator(node) == ",") {
    for (const int side : tree_.node(node).children) ExecuteExpression(side, mask);
  } else if (!IsPure(tree_, node)) {
    Refuse(fmt::format("{} is not understood", Quoted(node)));
  }
}

void LockstepRun::Declare(int variable, const Mask& mask) {
  const SyntaxNode& node = tree_.node(variable);
  if (IsShared(tree_, variable) || node.type.find('*') != std::string::npos) return;
  const auto& children = node.children;
  const int value = children.empty() || tree_.node(children.back()).type.empty() ? -1 : children.back();
  if (elements_.IsPartial(variable)) {
    partials_[variable] = value < 0 ? Partials(lanes_) : Data(value, mask);
    return;
  }
  const std::string type = WithoutConst(node.type);
  if (value < 0 || !IsArithmetic(type) || type == "float" || type == "double") return;
  // A variable that is not known may still be one that does not matter here.
  const std::string before = run_.refusal;
  Integers values = Integer(value, mask);
  if (refused()) {
    run_.refusal = before;
    integers_.erase(variable);
  } else {
    integers_[variable] = std::move(values);
  }
}

void LockstepRun::Assign(int node, const Mask& mask) {
  const int target = tree_.node(node).children[0], value = tree_.node(node).children[1];
  const int variable = NamedDeclaration(tree_, target);
  if (variable >= 0 && tree_.node(variable).kind_name == "VarDecl" && !IsShared(tree_, variable)) {
    AssignVariable(node, variable, mask);
    return;
  }
  const std::string_view spelled = tree_.Operator(node);
  const auto place = NamesShared(tree_, target) ? SharedPlace(target, mask) : std::nullopt;
  if (refused()) return;
  if (!place) {
    if (spelled == "=")
      Store(node, target, value, mask);
    else
      Refuse(fmt::format("{} changes global memory without an atomic", Quoted(node)));
    return;
  }
  if (spelled != "=" && spelled != "+=") {
    Refuse(fmt::format("{} is not understood", Quoted(node)));
    return;
  }
  Partials values = Data(value, mask);
  if (spelled == "+=" && !refused()) values = Combined("+", Data(target, mask), values, mask);
  if (!refused()) Write(*place, values, mask);
}

void LockstepRun::AssignVariable(int node, int variable, const Mask& mask) {
  const int value = tree_.node(node).children[1];
  const std::string_view spelled = tree_.Operator(node);
  if (elements_.IsPartial(variable)) {
    Partials values = Data(value, mask);
    if (spelled == "+=" && !refused())
      values = Combined("+", OfVariable(variable, mask), values, mask);
    else if (spelled != "=")
      Refuse(fmt::format("{} is not understood", Quoted(node)));
    if (refused()) return;
    Partials& held = partials_.try_emplace(variable, lanes_).first->second;
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      if (mask[lane]) held[lane] = values[lane];
    }
    return;
  }
  const Integers values =
      spelled == "=" ? Integer(value, mask) : IntegerOperation(node, spelled.substr(0, spelled.size() - 1), mask);
  if (refused()) return;
  Integers& held = integers_.try_emplace(variable, lanes_).first->second;
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (mask[lane]) held[lane] = values[lane];
  }
}

void LockstepRun::Atomic(int call, const Mask& mask) {
  const auto& parts = tree_.node(call).children;
  const auto callee = LibraryCallee(tree_, call);
  const char* combine = callee == "atomicAdd" ? "+" : callee == "atomicMax" ? "max" : callee == "atomicMin" ? "min" : nullptr;
  if (combine == nullptr || parts.size() != 3) {
    Refuse(fmt::format("{} is not understood", Quoted(call)));
    return;
  }
  run_.combines.insert(combine);
  if (!NamesShared(tree_, parts[1])) {
    Store(call, parts[1], parts[2], mask);
    return;
  }
  const int target = WithoutParentheses(tree_, parts[1]);
  const auto& inner = tree_.node(target).children;
  const bool address = tree_.Operator(target) == "&" && inner.size() == 1;
  const auto place = SharedPlace(address ? inner.front() : target, mask);
  const Partials values = Data(parts[2], mask);
  if (!place || refused()) return;
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (!mask[lane]) continue;
    // Threads add one after another.
    Mask one(lanes_, 0);
    one[lane] = 1;
    Cell* cell = CellAt(*place, lane);
    if (cell == nullptr) return;
    Partials old(lanes_);
    old[lane] = cell->value;
    Write(*place, Combined(combine, old, values, one), one, true);
  }
}

// Of a value that goes to global memory only its elements are known: `sum / n` has those of `sum`.
void LockstepRun::Store(int statement, int target, int value, const Mask& mask) {
  int data = value;
  for (const int node : Subtree(tree_, value)) {
    const bool partial = elements_.IsPartial(NamedDeclaration(tree_, node)) && tree_.node(node).kind_name == "DeclRefExpr";
    if (!partial && SharedArrayOf(tree_, node) < 0) continue;
    data = node;
    break;
  }
  const Partials values = Data(data, mask);
  if (refused()) return;
  run_.outputs.insert(statement);
  run_.data = data;
  const int place = WithoutParentheses(tree_, target);
  if (tree_.node(place).kind_name == "ArraySubscriptExpr") {
    const Integers index = Integer(tree_.node(place).children[1], mask);
    run_.at.reset();
    for (std::size_t lane = 0; lane < lanes_ && !refused(); ++lane) {
      if (mask[lane]) run_.at = index[lane];
    }
    run_.refusal.clear();  // an index that is not known may be right all the same
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
