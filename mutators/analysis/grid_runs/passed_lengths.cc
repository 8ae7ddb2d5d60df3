#include "mutators/analysis/grid_runs/passed_lengths.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kernel_templates/brought_parameters.h"
#include "kernel_templates/renderer.h"
#include "mutators/analysis/grid_runs/launch_runs.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {

std::optional<std::string> WithPassedLength(const MutationContext& context, int kernel) {
  const SyntaxTree& tree = context.tree;
  const LaunchDirective* const launch = OnlyLaunch(context.rendered, tree.node(kernel).name);
  const int last = launch == nullptr ? -1 : LastParameter(tree, kernel);
  if (last < 0) return std::nullopt;
  const LaunchRuns runs(context, *launch, kernel, tree.node(kernel).children.back(), {});
  if (!runs.refusal().empty()) return std::nullopt;
  std::string missing;
  for (const auto& [size, blocks] : runs.whole_blocks()) {
    const auto& arguments = runs.arguments();
    const bool passed =
        std::any_of(arguments.begin(), arguments.end(), [&](const auto& one) { return one.second.text() == size; });
    if (passed) continue;
    if (!missing.empty()) return std::nullopt;
    missing = size;
  }
  if (missing.empty()) return std::nullopt;
  const std::string name = UnusedName(tree.text(), "elements");
  const std::string text = TextWith(tree, 0, {{last, fmt::format("{}, int {}", tree.Text(last), name)}});
  return RenderLaunchChange(text,
                            {launch->kernel, "arguments", fmt::format("{}, {}", fmt::join(launch->arguments, ", "), missing)});
}

}  // namespace evo
