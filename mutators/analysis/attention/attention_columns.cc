#include "mutators/analysis/attention/attention_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "kernel_templates/renderer.h"
#include "mutators/analysis/source/affine_index.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/analysis/thread_runs/element_grid.h"
#include "syntax/splices.h"

namespace evo {
namespace {

// Which of the two indices goes along neighbours of what is stored; -1 if neither does in all stores.
int ColumnOf(const SyntaxTree& tree, const ElementGrid& grid) {
  const std::set<int> atoms{grid.indices[0].declaration, grid.indices[1].declaration};
  int column = -1;
  for (const int statement : grid.statements) {
    for (const int at : Subtree(tree, statement)) {
      if (!IsStore(tree, at) || PointerAt(tree, Assigned(tree, at)) < 0) continue;
      const auto element = AffineElementOf(tree, Assigned(tree, at), atoms);
      int along = -1;
      for (int i = 0; element && i < 2; ++i) {
        const auto factor = element->index.CoefficientOf(grid.indices[static_cast<std::size_t>(i)].declaration);
        if (factor && factor->IsConstant(1)) along = along < 0 ? i : -1;
      }
      if (along < 0 || (column >= 0 && column != along)) return -1;
      column = along;
    }
  }
  return column;
}

std::string LineOfStatement(const SyntaxTree& tree, int statement) {
  std::string text(tree.Text(statement));
  return text.ends_with(";") || text.ends_with("}") ? text : text + ";";
}

// The body in which the columns are those of a loop.
std::string BodyWithColumns(const SyntaxTree& tree, const ElementGrid& grid, const ElementGrid::Index& row,
                            const ElementGrid::Index& column) {
  std::string text = fmt::format("{{\n  {}\n", LineOfStatement(tree, tree.node(row.declaration).parent)), inside;
  std::set<int> of_column{column.declaration};
  for (const int statement : grid.before) {
    bool moves = false;
    for (const int named : NamedIn(tree, statement)) moves = moves || of_column.contains(named);
    if (moves) of_column.insert(tree.node(statement).children.begin(), tree.node(statement).children.end());
    (moves ? inside : text) += fmt::format("  {}\n", LineOfStatement(tree, statement));
  }
  const SyntaxNode& counter = tree.node(column.declaration);
  text += fmt::format("  if ({} < {}) {{\n", tree.node(row.declaration).name, Parenthesised(tree, row.bound));
  text += fmt::format("  for ({0} {1} = 0; {1} < {2}; ++{1}) {{\n{3}", WithoutConst(counter.type), counter.name,
                      Parenthesised(tree, column.bound), inside);
  for (const int statement : grid.statements) text += fmt::format("  {}\n", LineOfStatement(tree, statement));
  return text + "  }\n  }\n}";
}

}  // namespace

std::optional<std::string> WithColumnsInLoops(const MutationContext& context, const std::function<void(const std::string&)>&) {
  const SyntaxTree& tree = context.tree;
  Splices splices;
  std::vector<LaunchChange> launches;
  for (const int kernel : Functions(tree)) {
    if (!IsKernel(tree, kernel) || tree.Text(kernel).find("exp") == std::string_view::npos) continue;
    const auto found = AsElementGrid(context, kernel);
    const auto* const grid = std::get_if<ElementGrid>(&found);
    if (grid == nullptr || grid->flat >= 0) continue;
    const int body = tree.node(kernel).children.back();
    const int column = Cooperates(tree, body) ? -1 : ColumnOf(tree, *grid);
    if (column < 0) continue;
    const ElementGrid::Index &of_column = grid->indices[static_cast<std::size_t>(column)],
                             &of_row = grid->indices[static_cast<std::size_t>(1 - column)];
    if (of_column.bound < 0 || of_row.bound < 0) continue;
    // A thread that leaves in a loop would leave the other columns, too.
    bool leaves = false;
    for (const int statement : grid->statements) {
      for (const int at : Subtree(tree, statement)) leaves = leaves || tree.node(at).kind_name == "ReturnStmt";
    }
    if (leaves) continue;
    splices.emplace_back(tree.node(body).range, BodyWithColumns(tree, *grid, of_row, of_column));
    for (const bool block : {false, true}) {
      std::vector<std::string> dimensions;
      for (const Expression& dimension : block ? grid->launch->block : grid->launch->grid) dimensions.push_back(dimension.text());
      dimensions[block ? of_column.block_axis : of_column.axis] = "1";
      launches.push_back({grid->launch->kernel, block ? "block" : "grid", fmt::format("{}", fmt::join(dimensions, ", "))});
    }
  }
  std::optional<std::string> text = Spliced(tree, std::move(splices));
  for (const LaunchChange& change : launches) {
    if (text) text = RenderLaunchChange(*text, change);
  }
  return text;
}

}  // namespace evo
