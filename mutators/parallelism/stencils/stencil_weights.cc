#include "mutators/parallelism/stencils/stencil_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/convolution_parts.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/parallelism/stencils/stencil_layout.h"

namespace evo {

StencilWeights::StencilWeights(const SyntaxTree& tree, const Stencil& found, const StencilNames& names,
                               const StencilFreedom& freedom, bool has_items)
    : tree_(tree), found_(found), names_(names) {
  std::copy_if(found.tables.begin(), found.tables.end(), std::back_inserter(kept_),
               [&](const Stencil::Table& table) { return has_items && IsKept(table, freedom); });
}

// Whether an expression is known once the loops over neighbours are written out.
bool StencilWeights::IsOfCounters(int expression, int depth) const {
  if (depth == 0 || !IsPure(tree_, expression) || LoadsIn(tree_, expression)) return false;
  const auto named = NamedIn(tree_, expression);
  return std::all_of(named.begin(), named.end(), [&](int name) {
    const SyntaxNode& declared = tree_.node(name);
    if (declared.function < 0 || found_.loops.contains(tree_.node(declared.parent).parent)) return true;
    return declared.kind_name == "VarDecl" && !declared.children.empty() && !WrittenIn(tree_, found_.kernel).contains(name) &&
           !found_.roles.contains(name) && IsOfCounters(declared.children.back(), depth - 1);
  });
}

// Whether weights may be read once: nothing but a thread's place decides whether they are read.
bool StencilWeights::IsKept(const Stencil::Table& table, const StencilFreedom& freedom) const {
  if (SizeOf(PointedTo(tree_, table.buffer)) == 0) return false;
  for (const int node : table.nodes) {
    if (!IsOfCounters(tree_.node(node).children[1], StencilFreedom::kDepth)) return false;
    for (int at = tree_.node(node).parent; at != found_.kernel; at = tree_.node(at).parent) {
      const SyntaxNode& around = tree_.node(at);
      if (around.kind_name == "ConditionalOperator" || tree_.Operator(at) == "&&" || tree_.Operator(at) == "||") return false;
      if (around.kind_name == "IfStmt" && !freedom.IsOfPlace(around.children[0])) return false;
      // Other turns may leave the loop, or skip the read.
      if (!found_.loops.contains(at)) continue;
      for (const int inner : Subtree(tree_, at)) {
        if (tree_.node(inner).kind_name == "IfStmt" && !freedom.IsOfPlace(tree_.node(inner).children[0])) return false;
      }
    }
  }
  return true;
}

std::string StencilWeights::Loads() const {
  std::string text;
  for (const Stencil::Table& table : kept_) {
    std::string condition;
    for (std::size_t axis = 0; axis < found_.dimensions; ++axis) {
      const Stencil::Range &reads = table.readers[axis], &all = found_.stores[axis];
      if (reads.BeginsAs(all) && reads.end.kernel == all.end.kernel) continue;
      condition += fmt::format("{}{} > {}", condition.empty() ? "" : " && ", StencilLayout::Plain(reads.end.kernel), reads.Low());
    }
    const std::string name = names_.Weights(table.buffer), i = names_.Counter("i");
    const std::string load = fmt::format("#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) {3}[{1}] = {4}[{1}{5}];\n",
                                         condition.empty() ? "" : "  ", i, table.count, name, tree_.node(table.buffer).name,
                                         table.low == 0 ? "" : fmt::format(" + {}", table.low));
    if (!condition.empty()) text += "// Only where some element reads it may it be read.\n";
    text += fmt::format("{} {}[{}] = {{}};\n", names_.TypeOf(table.buffer), name, table.count);
    text += condition.empty() ? load : fmt::format("if ({}) {{\n{}}}\n", condition, load);
  }
  return text;
}

}  // namespace evo
