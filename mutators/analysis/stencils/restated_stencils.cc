#include "mutators/analysis/stencils/restated_stencils.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kernel_templates/brought_parameters.h"
#include "kernel_templates/renderer.h"
#include "mutators/analysis/grid_runs/passed_lengths.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/analysis/stencils/stencil.h"
#include "mutators/analysis/stencils/stencil_by_results.h"
#include "mutators/analysis/stencils/stencil_shape.h"
#include "mutators/analysis/stencils/window_loops.h"

namespace evo {
namespace {

bool HasStencil(const MutationContext& context) {
  for (const int kernel : Functions(context.tree)) {
    if (IsKernel(context.tree, kernel) && std::holds_alternative<Stencil>(AsStencil(context, kernel))) return true;
  }
  return false;
}

// The text, if a kernel is a stencil in it.
std::optional<std::string> IfStencil(const MutationContext& context, const std::optional<std::string>& text) {
  const auto tree = text ? context.tree.Reparsed(*text) : nullptr;
  if (!tree) return std::nullopt;
  const KernelTemplate rendered = ParseTemplate(context.rendered.name, *text);
  const MutationContext other{context.kernel_template, context.genome, *tree, rendered, nullptr, context.product_elsewhere};
  return HasStencil(other) ? text : std::nullopt;
}

// With `atomicExch(&p[i], x);` as `p[i] = x;`, which is the same where each element has one thread: of others nothing is found.
std::optional<std::string> WithPlainStores(const SyntaxTree& tree) {
  Replacements stores;
  for (const int call : NodesOfKind(tree, "CallExpr")) {
    const auto& parts = tree.node(call).children;
    const int function = tree.node(call).function;
    if (function < 0 || !IsKernel(tree, function) || parts.size() != 3 || LibraryCallee(tree, call) != "atomicExch") continue;
    const SyntaxNode& around = tree.node(tree.node(call).parent);
    if (around.kind_name != "CompoundStmt" && (around.kind_name != "IfStmt" || around.children.front() == call)) continue;
    const int pointer = WithoutParentheses(tree, parts[1]);
    const std::string target = tree.Operator(pointer) == "&" ? std::string(tree.Text(tree.node(pointer).children[0]))
                                                             : fmt::format("*({})", tree.Text(pointer));
    const bool ends = tree.Text(call).ends_with(";");
    stores.emplace_back(call, fmt::format("{} = {}{}", target, tree.Text(parts[2]), ends ? ";" : ""));
  }
  return stores.empty() ? std::nullopt : std::optional(TextWith(tree, 0, stores));
}

std::optional<std::string> StencilWithPlainStores(const MutationContext& context) {
  const auto text = WithPlainStores(context.tree);
  if (IfStencil(context, text)) return text;
  const auto tree = text ? context.tree.Reparsed(*text) : nullptr;
  if (!tree) return std::nullopt;
  const KernelTemplate rendered = ParseTemplate(context.rendered.name, *text);
  const MutationContext plain{context.kernel_template, context.genome, *tree, rendered, nullptr, context.product_elsewhere};
  std::string why;
  for (const int kernel : Functions(*tree)) {
    if (!IsKernel(*tree, kernel)) continue;
    if (auto found = StencilByResults(plain, kernel, false, why)) return found;
  }
  return std::nullopt;
}

// Where a size of which the grid has whole blocks is not passed: with it, and also by what its threads store then.
std::optional<std::string> WithLengthPassed(const MutationContext& context, int kernel, std::string& why) {
  const auto text = WithPassedLength(context, kernel);
  const auto tree = text ? context.tree.Reparsed(*text) : nullptr;
  if (!tree) return std::nullopt;
  const KernelTemplate rendered = ParseTemplate(context.rendered.name, *text);
  const MutationContext passed{context.kernel_template, context.genome, *tree, rendered, nullptr, context.product_elsewhere};
  if (HasStencil(passed)) return text;
  for (const int function : Functions(*tree)) {
    if (tree->node(function).name == context.tree.node(kernel).name && IsKernel(*tree, function))
      return StencilByResults(passed, function, true, why);
  }
  return std::nullopt;
}

// Whether a kernel might be a stencil if its sizes were multiples of its blocks, as where its tiles are filled without a test, or
// where it stores beyond the end of a line.
bool MayNeedWholeBlocks(const std::string& why, const LaunchDirective* launch) {
  if (launch != nullptr && launch->grid.size() == 1 && why.find(kNoNeighboursOfStencil) != std::string::npos) return true;
  constexpr std::array<std::string_view, 4> kReasons{"is read and has no value", "two threads store the same element",
                                                     "which elements it stores", "do not store all elements of a box"};
  return std::any_of(kReasons.begin(), kReasons.end(), [&](std::string_view one) { return why.find(one) != std::string::npos; });
}

// With whole blocks only where the launch line rounds up: what is found then traps with other sizes.
std::optional<std::string> WithWholeBlocks(const MutationContext& context, int kernel) {
  const LaunchDirective* const launch = AlikeLaunches(context, kernel);
  if (launch == nullptr) return std::nullopt;
  std::vector<std::string> grid;
  bool changed = false;
  for (std::size_t axis = 0; axis < launch->grid.size(); ++axis) {
    std::string extent = launch->grid[axis].text();
    for (const std::string& size : launch->grid[axis].Names()) {
      if (axis >= launch->block.size() || extent != fmt::format("ceil_div({}, {})", size, launch->block[axis].text())) continue;
      extent = fmt::format("{} / {}", size, Parenthesised(launch->block[axis].text()));
      changed = true;
      break;
    }
    grid.push_back(std::move(extent));
  }
  const auto text =
      !changed ? std::nullopt
               : RenderLaunchChange(context.tree.text(), {launch->kernel, "grid", fmt::format("{}", fmt::join(grid, ", "))});
  const auto tree = text ? context.tree.Reparsed(*text) : nullptr;
  if (!tree) return std::nullopt;
  const KernelTemplate rendered = ParseTemplate(context.rendered.name, *text);
  const MutationContext whole{context.kernel_template, context.genome, *tree, rendered, nullptr, context.product_elsewhere};
  std::string why;
  for (const int function : Functions(*tree)) {
    if (tree->node(function).name == context.tree.node(kernel).name && IsKernel(*tree, function))
      return StencilByResults(whole, function, false, why);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> RestatedStencils(const MutationContext& context,
                                            const std::function<void(const std::string&)>& refuse) {
  const auto fixed = WithFixedWindows(context, refuse);
  if (IfStencil(context, fixed)) return fixed;
  const SyntaxTree& tree = context.tree;
  // What has edits has come from a source that was asked without.
  if (!context.genome.edits.empty()) return fixed;
  if (auto text = StencilWithPlainStores(context)) return text;
  for (const int kernel : Functions(tree)) {
    if (!IsKernel(tree, kernel)) continue;
    const auto as_it_is = AsStencil(context, kernel);
    const auto* const refused = std::get_if<std::string>(&as_it_is);
    std::string why;
    if (refused == nullptr) continue;
    if (auto text = WithLengthPassed(context, kernel, why)) return text;
    std::string first_why;
    if (auto text = StencilByResults(context, kernel, !refused->empty(), why, &first_why)) return text;
    const bool whole = MayNeedWholeBlocks(first_why, AlikeLaunches(context, kernel));
    if (auto text = whole ? WithWholeBlocks(context, kernel) : std::nullopt) return text;
    if (!why.empty()) refuse(fmt::format("{}: {}", tree.node(kernel).name, why));
  }
  return fixed;
}

}  // namespace evo
