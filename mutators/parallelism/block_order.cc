#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mutators/analysis/plain_source/plain_source.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// Numbers of rows of blocks that form a group, within which blocks are numbered by columns; 0 numbers the whole grid by columns.
constexpr std::array<int, 4> kGroups{0, 2, 4, 8};

class BlockOrder : public SourceMutator {
 public:
  std::string_view name() const override { return "block_order"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override {
    return "renumbers a grid's blocks by columns or in groups of rows, so that neighbouring blocks share cached data";
  }

  std::vector<Proposal> Proposals(const MutationContext& context) const override { return InPlainSource(context, Find); }

 private:
  static std::vector<Proposal> Find(const MutationContext& context) {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int kernel : Functions(tree)) {
      if (!IsKernel(tree, kernel) || IsUsedElsewhere(tree, kernel, "blockIdx")) continue;
      const LaunchDirective* launch = OnlyLaunch(context.rendered, tree.node(kernel).name);
      if (!launch || launch->grid.size() < 2 || launch->cooperative || !launch->cluster.empty()) continue;
      // A grid of one row or one column has no other order.
      if (launch->grid[0].text() == "1" || launch->grid[1].text() == "1") continue;
      const auto columns = BuiltinUses(tree, kernel, "blockIdx", 0);
      const auto rows = BuiltinUses(tree, kernel, "blockIdx", 1);
      const auto& statements = tree.node(tree.node(kernel).children.back()).children;
      if (columns.empty() || rows.empty() || statements.empty()) continue;
      for (const int group : kGroups) proposals.push_back(Reorder(tree, statements.front(), columns, rows, group));
    }
    return proposals;
  }

  static Proposal Reorder(const SyntaxTree& tree, int first, const std::vector<int>& columns, const std::vector<int>& rows,
                          int group) {
    const std::string column = FreshName(tree, "block_column");
    const std::string row = FreshName(tree, "block_row");
    const std::string linear = FreshName(tree, "block");
    std::vector<std::string> lines{fmt::format("const unsigned {} = blockIdx.y * gridDim.x + blockIdx.x;", linear)};
    if (group == 0) {
      lines.push_back(fmt::format("const unsigned {} = {} / gridDim.y;", column, linear));
      lines.push_back(fmt::format("const unsigned {} = {} % gridDim.y;", row, linear));
    } else {
      const std::string top = FreshName(tree, "group_row");
      const std::string height = FreshName(tree, "group_rows");
      lines.push_back(fmt::format("const unsigned {0} = {1} / ({2} * gridDim.x) * {2};", top, linear, group));
      lines.push_back(fmt::format("const unsigned {0} = min(gridDim.y - {1}, {2}u);", height, top, group));
      lines.push_back(fmt::format("const unsigned {0} = {1} % ({2} * gridDim.x) / {3};", column, linear, group, height));
      lines.push_back(fmt::format("const unsigned {0} = {1} + {2} % ({3} * gridDim.x) % {4};", row, top, linear, group, height));
    }
    Proposal proposal;
    std::string text;
    for (const std::string& line : lines) text += LineBefore(tree, first, line);
    proposal.changes.push_back({FirstNode(tree, first), Placement::kBefore, std::move(text)});
    for (const int use : columns) proposal.changes.push_back({use, Placement::kReplace, column});
    for (const int use : rows) proposal.changes.push_back({use, Placement::kReplace, row});
    return proposal;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeBlockOrder() { return std::make_unique<BlockOrder>(); }

}  // namespace evo
