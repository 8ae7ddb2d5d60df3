#include "import/launch_reach.h"

#include <algorithm>

#include "import/unrolled_recursion.h"

namespace evo {

bool LaunchReach::IsReached(const HostLaunch& launch) {
  const auto path = host_.PathTo(launch);
  return std::all_of(path.begin(), path.end(), [&](const HostCall* call) { return IsLetThrough(*call); });
}

std::vector<LaunchReach::Case> LaunchReach::CasesAround(const HostLaunch& launch) {
  std::vector<Case> all;
  for (const HostCall* call : host_.PathTo(launch)) {
    if (call->function < 0) continue;
    for (Case& one : CasesOf(*call)) all.push_back(std::move(one));
  }
  return all;
}

// Whether `switch (number)` around a call gets to its case.
bool LaunchReach::IsOfCase(const HostCall& call) {
  const std::vector<Case> cases = CasesOf(call);
  return std::all_of(cases.begin(), cases.end(), [&](const Case& one) {
    const auto wanted = ValueOf(one.label, host_.Values()), given = ValueOf(one.chosen, host_.Values());
    return !wanted || !given || wanted->AsReal() == given->AsReal();
  });
}

std::vector<LaunchReach::Case> LaunchReach::CasesOf(const HostCall& call) {
  std::vector<Case> cases;
  for (std::size_t at = program_.TokenAt(program_.functions()[static_cast<std::size_t>(call.function)].body.begin);
       at < program_.tokens().size() && program_.tokens()[at].begin < call.range.begin; ++at) {
    if (program_.Token(at) != "switch") continue;
    const std::size_t open = program_.AfterBracket(at + 1), end = program_.AfterBracket(open);
    if (end == 0 || program_.tokens()[end - 1].begin < call.range.end) continue;
    std::size_t label = 0;
    for (std::size_t i = open + 1; program_.tokens()[i].begin < call.range.begin; ++i) {
      if (program_.Token(i) == "switch") i = std::max(i, program_.AfterBracket(i + 1)) - 1;
      if (program_.Token(i) == "case") label = i;
    }
    std::size_t colon = label;
    while (label > 0 && program_.Token(colon) != ":") ++colon;
    if (colon < label + 2) continue;
    const SourceRange number{program_.tokens()[label + 1].begin, program_.tokens()[colon - 1].end};
    const SourceRange chosen{program_.tokens()[at + 2].begin, program_.tokens()[open - 2].end};
    cases.push_back({host_.Resolve(chosen, call.function), host_.Resolve(number, call.function)});
  }
  return cases;
}

// Whether the condition of an `if` holds with the host's values; nullopt if they do not say it.
std::optional<bool> LaunchReach::Decided(const SyntaxNode& statement, int function) {
  const HostExpression resolved = host_.Resolve(tree_.node(statement.children[0]).range, function);
  const auto value = ValueOf(resolved, host_.Values());
  if (!value) return std::nullopt;
  const bool holds = value->AsReal() != 0;
  if (LevelOf(program_, function)) {
    HostExpression condition = holds ? resolved : HostExpression::Binary("==", resolved, HostExpression::Integer(0));
    const auto is_same = [&](const HostExpression& other) { return other.Text() == condition.Text(); };
    if (std::none_of(of_levels_.begin(), of_levels_.end(), is_same)) of_levels_.push_back(std::move(condition));
  }
  return holds;
}

bool LaunchReach::IsLetThrough(const HostCall& call) {
  if (call.function >= 0 && !IsOfCase(call)) return false;
  for (const SyntaxNode& node : tree_.nodes()) {
    if (node.kind_name != "IfStmt" || !node.range.Contains(call.range) || node.children.size() < 2) continue;
    const auto holds = Decided(node, call.function);
    if (holds && *holds != tree_.node(node.children[1]).range.Contains(call.range)) return false;
  }
  return !LevelOf(program_, call.function) || !IsBehindReturn(call);
}

// Whether a function that calls itself has returned before: `if (blocks == 1) { ..; return; }`.
bool LaunchReach::IsBehindReturn(const HostCall& call) {
  const SourceRange& body = program_.functions()[static_cast<std::size_t>(call.function)].body;
  for (const SyntaxNode& node : tree_.nodes()) {
    if (node.kind_name != "IfStmt" || !body.Contains(node.range) || node.range.end > call.range.begin || node.children.size() < 2)
      continue;
    if (!tree_.node(node.parent).range.Contains(call.range)) continue;
    const SyntaxNode* last = &tree_.node(node.children[1]);
    if (last->kind_name == "CompoundStmt" && !last->children.empty()) last = &tree_.node(last->children.back());
    if (last->kind_name == "ReturnStmt" && Decided(node, call.function).value_or(false)) return true;
  }
  return false;
}

}  // namespace evo
