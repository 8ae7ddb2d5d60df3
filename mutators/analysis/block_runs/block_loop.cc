#include "mutators/analysis/block_runs/block_loop.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/early_return.h"
#include "mutators/analysis/source/indentation.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

constexpr std::string_view kBlockAxes = "xyz";

// The uses of a member of a built-in variable within `scope`, by their text.
std::vector<int> Spelled(const SyntaxTree& tree, int scope, std::string_view text) {
  std::vector<int> places;
  for (const int at : Subtree(tree, scope)) {
    if (tree.node(at).kind_name == "MemberRefExpr" && tree.Text(at) == text) places.push_back(at);
  }
  return places;
}

// The same within all kernels: another kernel's blocks are its own.
std::size_t SpelledInKernels(const SyntaxTree& tree, std::string_view text) {
  std::size_t count = 0;
  for (const int function : Functions(tree)) {
    if (IsKernel(tree, function)) count += Spelled(tree, tree.node(function).children.back(), text).size();
  }
  return count;
}

// How often a word occurs in the whole text, macros included.
std::size_t CountWord(const std::string& text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size())) ++count;
  return count;
}

// The `return`s of a kernel's body, which become `continue`. nullopt if one of them cannot, because it is in a loop, or because
// some threads would go on to the next block while those that they work with are still at this one.
std::optional<std::vector<int>> Returns(const SyntaxTree& tree, int body) {
  std::vector<int> returns;
  const Cooperation cooperation = CooperationIn(tree);
  for (const int at : Subtree(tree, body)) {
    const std::string& kind = tree.node(at).kind_name;
    if (kind == "LambdaExpr" || kind == "GotoStmt" || kind == "LabelStmt") return std::nullopt;
    if (kind != "ReturnStmt") continue;
    for (int outer = tree.node(at).parent; outer != body; outer = tree.node(outer).parent) {
      const std::string& around = tree.node(outer).kind_name;
      if (around != "CompoundStmt" && around != "IfStmt") return std::nullopt;
      if (around == "IfStmt" && !ReturnsTogether(tree, tree.node(outer).children.front(), cooperation)) return std::nullopt;
    }
    returns.push_back(at);
  }
  return returns;
}

// A parameter that the body changes would not have its first value when the next block's work begins.
bool ChangesAParameter(const SyntaxTree& tree, int body) {
  const auto written = WrittenIn(tree, body);
  return std::any_of(written.begin(), written.end(), [&](int d) { return tree.node(d).kind_name == "ParmDecl"; });
}

}  // namespace

std::optional<BlockLoop> LoopOverBlocks(const MutationContext& context, int kernel, std::size_t axis,
                                        const OutsideLoop& outside) {
  const SyntaxTree& tree = context.tree;
  const LaunchDirective* launch = OnlyLaunch(context.rendered, tree.node(kernel).name);
  const int body = tree.node(kernel).children.back();
  if (launch == nullptr || launch->cooperative || !launch->cluster.empty() || axis >= launch->grid.size()) return std::nullopt;
  const std::string index = fmt::format("blockIdx.{}", kBlockAxes[axis]);
  const std::string extent = fmt::format("gridDim.{}", kBlockAxes[axis]);
  const auto uses = Spelled(tree, body, index);
  // All uses must be in bodies of kernels: functions and macros would still see the real block.
  const auto extents = Spelled(tree, body, extent);
  const std::string& code = CodeOf(tree);
  if (uses.empty() || SpelledInKernels(tree, index) != CountWord(code, index) ||
      SpelledInKernels(tree, extent) != CountWord(code, extent))
    return std::nullopt;
  const auto returns = Returns(tree, body);
  const int last_parameter = LastParameter(tree, kernel);
  if (!returns || last_parameter < 0 || launch->grid[axis].text() == "1" || ChangesAParameter(tree, body)) return std::nullopt;

  BlockLoop loop;
  loop.whole = launch->grid[axis].text();
  const std::string block = FreshName(tree, "block");
  const std::string blocks = FreshName(tree, "blocks");
  const auto& statements = tree.node(body).children;
  auto& changes = loop.proposal.changes;
  changes.push_back({last_parameter, Placement::kAfter, fmt::format(", unsigned int {}", blocks)});
  const std::string indent = IndentOf(tree, statements.front());
  std::string before = outside.before.empty() ? "" : LinesAt(outside.before, indent) + "\n" + indent;
  before +=
      fmt::format("for (unsigned int {0} = blockIdx.{1}; {0} < {2}; {0} += gridDim.{1}) {{", block, kBlockAxes[axis], blocks);
  before += kIndentFrom;
  if (!NodesOfKind(tree, "attribute(shared)").empty())
    before += fmt::format("\n{}__syncthreads();   // shared memory is reused from here on", indent);
  changes.push_back({FirstNode(tree, statements.front()), Placement::kBefore, LineBefore(tree, statements.front(), before)});
  for (const int use : uses) changes.push_back({use, Placement::kReplace, block});
  for (const int use : extents) changes.push_back({use, Placement::kReplace, blocks});
  for (const int at : *returns) changes.push_back({at, Placement::kReplace, "continue;"});
  const std::string after = outside.after.empty() ? "" : "\n" + indent + LinesAt(outside.after, indent);
  changes.push_back({statements.back(), Placement::kAfter, fmt::format("{}\n{}}}{}", kIndentTo, indent, after)});
  loop.proposal.launch.push_back(
      {launch->kernel, "arguments", fmt::format("{}, {}", fmt::join(launch->arguments, ", "), loop.whole)});
  return loop;
}

}  // namespace evo
