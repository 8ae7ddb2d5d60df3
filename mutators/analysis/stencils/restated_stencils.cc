#include "mutators/analysis/stencils/restated_stencils.h"

#include <fmt/format.h>

#include <variant>

#include "mutators/analysis/grid_runs/passed_lengths.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/stencils/stencil.h"
#include "mutators/analysis/stencils/stencil_by_results.h"
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

}  // namespace

std::optional<std::string> RestatedStencils(const MutationContext& context,
                                            const std::function<void(const std::string&)>& refuse) {
  const auto fixed = WithFixedWindows(context, refuse);
  if (IfStencil(context, fixed)) return fixed;
  const SyntaxTree& tree = context.tree;
  // What has edits has come from a source that was asked without.
  if (!context.genome.edits.empty()) return fixed;
  for (const int kernel : Functions(tree)) {
    if (!IsKernel(tree, kernel)) continue;
    const auto as_it_is = AsStencil(context, kernel);
    const auto* const refused = std::get_if<std::string>(&as_it_is);
    std::string why;
    if (refused == nullptr) continue;
    if (auto text = IfStencil(context, WithPassedLength(context, kernel))) return text;
    if (auto text = StencilByResults(context, kernel, !refused->empty(), why)) return text;
    if (!why.empty()) refuse(fmt::format("{}: {}", tree.node(kernel).name, why));
  }
  return fixed;
}

}  // namespace evo
