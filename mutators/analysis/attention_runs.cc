#include "mutators/analysis/attention_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "mutators/analysis/constant_value.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/source_query.h"

namespace evo {
namespace {

// What the sizes of the launch line are in the first and the second setting; no two are the same.
constexpr std::array<std::array<std::int64_t, 8>, 2> kTriedSizes{{{6, 7, 5, 9, 8, 11, 10, 12}, {5, 8, 7, 6, 11, 9, 13, 10}}};
// Rows among which the first without work is looked for.
constexpr std::int64_t kMostRows = 16;
// Of the grid along the other axes, and one for each axis.
constexpr std::int64_t kOtherBlocks = 2;
// A size that is none of those, to see what it decides.
constexpr std::int64_t kLargerSize = 14;
// Threads of a block, where it asks for them.
constexpr std::int64_t kBlockThreads = 4096;

}  // namespace

AttentionRuns::AttentionRuns(const MutationContext& context, const LaunchDirective& launch, int kernel, const RowIndex& row)
    : context_(context),
      tree_(context.tree),
      kernel_(kernel),
      row_(row),
      run_(context, kernel, row.declaration),
      sizes_(context, launch, kernel),
      refusal_(sizes_.refusal()) {
  FindPinned();
  FindFixed();
  if (refusal_.empty() && sizes_.names().size() > kTriedSizes[0].size()) refusal_ = "its launch line names too many sizes";
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
    if (parameter >= 0 && value) pinned_[parameter] = *value;
  }
}

void AttentionRuns::FindFixed() {
  for (const auto& [parameter, expression] : sizes_.arguments()) {
    const auto pinned = pinned_.find(parameter);
    if (pinned != pinned_.end() && expression.Names().size() == 1 && expression.Names().front() == expression.text())
      fixed_[expression.text()] = pinned->second;
  }
}

// The numbers of a run; `changed` names have the value `to`. nullopt if the launch line passes what is no number.
std::optional<ThreadSetting> AttentionRuns::SettingOf(std::size_t number, std::int64_t row, const std::set<std::string>& changed,
                                                      std::int64_t to) {
  ThreadSetting setting;
  Variables values;
  for (const auto& [name, value] : context_.genome.parameters) values[name] = Number::Integer(value);
  const std::vector<std::string>& names = sizes_.names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto fixed = fixed_.find(names[i]);
    values[names[i]] = Number::Integer(fixed != fixed_.end()        ? fixed->second
                                       : changed.contains(names[i]) ? to
                                                                    : kTriedSizes[number][i]);
  }
  try {
    for (const auto& [parameter, expression] : sizes_.arguments()) {
      const auto pinned = pinned_.find(parameter);
      setting.integers[parameter] = pinned != pinned_.end() ? pinned->second : expression.EvaluateInteger(values);
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  setting.reals = sizes_.reals();
  for (const std::size_t axis : {0u, 1u, 2u}) {
    setting.builtins[BuiltinSymbol("blockIdx", axis)] = axis == row_.axis ? 0 : 1;
    setting.builtins[BuiltinSymbol("gridDim", axis)] = kOtherBlocks + static_cast<std::int64_t>(axis);
  }
  setting.builtins[BuiltinSymbol("threadIdx", row_.block_axis)] = row;
  setting.builtins[BuiltinSymbol("blockDim", row_.block_axis)] = kBlockThreads;
  setting.row = row;
  return setting;
}

ThreadTrace AttentionRuns::Run(std::size_t number, std::int64_t row) {
  const auto setting = SettingOf(number, row, {}, 0);
  if (setting) return run_.Run(*setting);
  ThreadTrace trace;
  trace.refusal = "its launch line passes what is no number";
  return trace;
}

ThreadTrace AttentionRuns::RunWith(std::size_t number, std::int64_t row, const std::set<std::string>& names, std::int64_t size) {
  auto setting = SettingOf(number, row, names, size);
  if (!setting) return {};
  setting->symbolic = false;
  return run_.Run(*setting);
}

std::optional<std::int64_t> AttentionRuns::RowsOf(std::size_t number) {
  for (std::int64_t row = 0; row < kMostRows; ++row) {
    const ThreadTrace trace = RunWith(number, row, {}, 0);
    if (!trace.refusal.empty()) return std::nullopt;
    if (trace.stores.empty()) return row;
  }
  return std::nullopt;
}

std::set<std::string> AttentionRuns::Driving(std::int64_t rows, std::int64_t row, const AttentionRoles& roles,
                                             std::int64_t keys) {
  std::set<std::string> driving;
  for (const std::string& name : sizes_.names()) {
    if (fixed_.contains(name)) continue;
    const ThreadTrace wide = RunWith(0, rows, {name}, kLargerSize), more = RunWith(0, row, {name}, kLargerSize);
    if (!wide.stores.empty() || KeysRead(more, roles) != keys) driving.insert(name);
  }
  return driving;
}

}  // namespace evo
