// What threads compute together, and what a single thread takes of it (lone_state.h).
#include <fmt/format.h>

#include <algorithm>

#include "mutators/analysis/rows/lone_state.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {

bool LoneState::Run(int statement) {
  for (const auto& run : runs_) run->Run(statement);
  worked_ = true;
  for (const int variable : WrittenIn(tree_, statement)) {
    if (tree_.node(variable).kind_name == "VarDecl") tracked_.insert(variable);
  }
  for (const int at : Subtree(tree_, statement)) {
    if (tree_.node(at).kind_name == "VarDecl") tracked_.insert(at);
  }
  return refusal().empty();
}

void LoneState::Declare(int variable) {
  for (const auto& run : runs_) run->DeclareVariable(variable);
}

void LoneState::TakeResults(int statement, int from, std::string& text) {
  if (!worked_) return;
  worked_ = false;
  std::map<std::string, int> wanted;
  for (int node = from; node < tree_.EndOf(kernel_); ++node) {
    const SyntaxNode& one = tree_.node(node);
    if (one.kind_name != "DeclRefExpr" || one.refers_to < 0) continue;
    if (roles_.IsSharedUse(node)) {
      if (roles_.IsCell(node)) wanted.emplace(KeyOf(roles_.CellNode(node)), roles_.CellNode(node));
    } else if (tracked_.contains(one.refers_to) && one.refers_to < from) {
      wanted.emplace(KeyOf(one.refers_to), one.refers_to);
    }
  }
  // What the first thread has, it may take later.
  for (const auto& [key, node] : wanted) {
    TakeResult(statement, node, text);
    worked_ = worked_ || !IsLike(node, false);
  }
}

// Whether a name means this variable at a statement.
bool LoneState::IsSeen(int variable, int statement) const {
  if (tree_.node(variable).kind_name != "VarDecl" || renamed_.contains(variable)) return true;
  const auto scope_of = [&](int declared) { return tree_.node(tree_.node(declared).parent).parent; };
  if (!IsWithin(tree_, statement, scope_of(variable))) return false;
  for (const int other : Subtree(tree_, kernel_)) {
    const SyntaxNode& node = tree_.node(other);
    const bool same = node.kind_name == "VarDecl" && other != variable && node.name == tree_.node(variable).name;
    if (same && other > variable && IsWithin(tree_, statement, scope_of(other))) return false;
  }
  return true;
}

void LoneState::TakeResult(int statement, int node, std::string& text) {
  const bool variable = tree_.node(node).kind_name == "VarDecl";
  if (IsLike(node, false) || (variable && values_.contains(KeyOf(node)) && !IsSeen(node, statement))) return;
  for (const auto& [key, value] : values_) {
    if (value.numbers.empty() || value.node == node || !IsSeen(value.node, statement)) continue;
    bool same = true;
    for (std::size_t run = 0; run < runs_.size() && same; ++run)
      same = runs_[run]->Has(node, value.numbers[run], value.of_all, false);
    if (!same) continue;
    const Value source = value;
    if (variable && !values_.contains(KeyOf(node))) {
      renamed_[node] = UnusedPlace(tree_.node(node).name, node);
      values_[KeyOf(node)].name = renamed_[node];
    }
    if (!variable) CellName(node);
    Value& target = values_[KeyOf(node)];
    text += fmt::format("{} = {};\n", target.name, source.name);
    target = {node, target.name, source.of_all, source.stands_for, source.numbers};
    return;
  }
}

bool LoneState::of_warps() const {
  return std::any_of(runs_.begin(), runs_.end(), [](const auto& run) { return run->group().rows > 1; });
}

bool LoneState::AllOn() const {
  return std::all_of(runs_.begin(), runs_.end(), [](const auto& run) { return run->AllOn(); });
}

bool LoneState::FirstOn() const {
  return std::all_of(runs_.begin(), runs_.end(), [](const auto& run) { return run->OnlyFirstOn(); });
}

bool LoneState::Restrict(int condition, bool inverse) {
  for (const auto& run : runs_) {
    if (!run->Restrict(condition, inverse)) return false;
  }
  return true;
}

void LoneState::Restore() {
  for (const auto& run : runs_) run->Restore();
}

bool LoneState::IsOfFirst(int condition) {
  if (!roles_.IsOfThread(condition)) return false;
  return std::all_of(runs_.begin(), runs_.end(), [&](const auto& run) {
    const auto where = run->IndicesOf(condition);
    return where && where->front() != 0 && std::count(where->begin(), where->end(), 0) + 1 == static_cast<long>(where->size());
  });
}

bool LoneState::IsRow(int variable) {
  return of_warps() && std::all_of(runs_.begin(), runs_.end(), [&](const auto& run) {
           const RowGroup& group = run->group();
           return run->Has(variable, static_cast<double>(group.block * group.rows + group.group), false, false);
         });
}

std::optional<double> LoneState::StartOf(int expression) {
  std::optional<double> start;
  for (const auto& run : runs_) {
    const auto begin = run->IndicesOf(expression);
    if (!begin) return std::nullopt;
    if (!start) start = begin->front();
    for (std::size_t lane = 0; lane < begin->size(); ++lane) {
      if ((*begin)[lane] != *start + static_cast<double>(lane)) return std::nullopt;
    }
  }
  return start;
}

bool LoneState::IsNumberOfThreads(int expression) {
  return std::all_of(runs_.begin(), runs_.end(), [&](const auto& run) {
    const auto number = run->ConstantOf(expression);
    return number && *number == static_cast<double>(run->group().lanes());
  });
}

}  // namespace evo
