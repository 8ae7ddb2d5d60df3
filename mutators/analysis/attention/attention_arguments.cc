#include <algorithm>

#include "mutators/analysis/attention/attention_runs.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {

// Workspaces that only this launch names.
void AttentionRuns::FindScratch(const LaunchDirective& launch) {
  std::size_t place = 0;
  for (const int child : tree_.node(kernel_).children) {
    if (tree_.node(child).kind_name != "ParmDecl") continue;
    if (place >= launch.arguments.size()) return;
    const std::string& argument = launch.arguments[place++];
    const auto& workspaces = context_.rendered.workspaces;
    if (std::none_of(workspaces.begin(), workspaces.end(), [&](const auto& one) { return one.name == argument; })) continue;
    int uses = 0;
    for (const Step& step : context_.rendered.steps) {
      if (step.launch)
        uses += static_cast<int>(std::count(step.launch->arguments.begin(), step.launch->arguments.end(), argument));
      else
        uses += 2;  // a fill may be of it
    }
    if (uses == 1) given_.scratch.insert(child);
  }
}

// Such as masks of bool: no attention computes with bytes.
void AttentionRuns::FindBytes() {
  for (const int child : tree_.node(kernel_).children) {
    const SyntaxNode& parameter = tree_.node(child);
    const std::string pointed = parameter.type.substr(0, parameter.type.find('*'));
    const bool bytes = pointed.find("char") != std::string::npos || pointed.find("bool") != std::string::npos;
    if (parameter.kind_name == "ParmDecl" && bytes && pointed.size() < parameter.type.size()) given_.bytes.insert(child);
  }
}

// Of `if (depth != HEAD_DIM) return;` and the like, what the parameter is in all that counts.
void AttentionRuns::FindPinned() {
  for (const int statement : tree_.node(tree_.node(kernel_).children.back()).children) {
    const auto& parts = tree_.node(statement).children;
    if (tree_.node(statement).kind_name != "IfStmt" || parts.size() != 2) continue;
    const int only = OnlyStatement(tree_, parts[1]);
    if (only < 0 || tree_.node(only).kind_name != "ReturnStmt") continue;
    const auto named = NamedIn(tree_, parts[0]);
    const bool common = std::all_of(named.begin(), named.end(), [&](int name) {
      return tree_.node(name).function < 0 || tree_.node(name).kind_name == "ParmDecl" || run_.block_constants().contains(name);
    });
    const auto nodes = Subtree(tree_, parts[0]);
    if (!common || std::any_of(nodes.begin(), nodes.end(), [&](int node) { return tree_.node(node).name.ends_with("Idx"); }))
      continue;
    guards_.push_back(statement);
    Pin(parts[0]);
  }
}

void AttentionRuns::Pin(int condition) {
  condition = WithoutParentheses(tree_, condition);
  const auto& sides = tree_.node(condition).children;
  if (sides.size() != 2) return;
  if (tree_.Operator(condition) == "||") return Pin(sides[0]), Pin(sides[1]);
  if (tree_.Operator(condition) != "!=") return;
  for (const std::size_t side : {0u, 1u}) {
    const int parameter = NamedDeclaration(tree_, sides[side]);
    const auto value = ConstantValue(tree_, tree_.Text(sides[1 - side]));
    if (parameter >= 0 && value) pinned_.parameters[parameter] = *value;
  }
}

void AttentionRuns::FindFixed() {
  for (const auto& [parameter, expression] : sizes_.arguments()) {
    const auto pinned = pinned_.parameters.find(parameter);
    if (pinned != pinned_.parameters.end() && expression.Names().size() == 1 && expression.Names().front() == expression.text())
      pinned_.sizes[expression.text()] = pinned->second;
  }
}

}  // namespace evo
