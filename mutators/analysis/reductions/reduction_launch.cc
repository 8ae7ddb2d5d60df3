#include "mutators/analysis/reductions/reduction_launch.h"

#include <algorithm>
#include <string_view>

#include "core/error.h"

namespace evo {
namespace {

// Several launches of the same kernel have blocks of the same size.
bool FindLaunches(const MutationContext& context, Reduction& found) {
  for (const Step& step : context.rendered.steps) {
    if (!step.launch || step.launch->kernel != context.tree.node(found.kernel).name) continue;
    const LaunchDirective& launch = *step.launch;
    const auto same = [](const Expression& a, const Expression& b) { return a.text() == b.text(); };
    if (found.launch != nullptr &&
        (!std::equal(launch.block.begin(), launch.block.end(), found.launch->block.begin(), found.launch->block.end(), same) ||
         !launch.cluster.empty() || launch.cooperative))
      return false;
    found.launched_again = found.launch != nullptr;
    if (found.launch == nullptr) found.launch = &launch;
  }
  return found.launch != nullptr;
}

// The first argument of __launch_bounds__, if there are any.
bool FindMostThreads(const MutationContext& context, std::string_view head, Reduction& found) {
  constexpr std::string_view kBounds = "__launch_bounds__";
  const std::size_t at = head.find(kBounds), open = head.find('(', at);
  if (at == std::string_view::npos) return true;
  std::size_t end = open + 1;
  for (int depth = 1; end < head.size(); ++end) {
    depth += (head[end] == '(') - (head[end] == ')');
    if (depth == 0 || (depth == 1 && head[end] == ',')) break;
  }
  found.most_threads = head.substr(open + 1, end - open - 1);
  try {
    const auto names = Expression::Parse(found.most_threads).Names();
    return std::all_of(names.begin(), names.end(),
                       [&](const std::string& name) { return context.genome.parameters.contains(name); });
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::string FindReductionLaunch(const MutationContext& context, Reduction& found) {
  if (!FindLaunches(context, found)) return "it is not launched, or with different blocks";
  if (!found.launch->cluster.empty() || found.launch->cooperative) return "its blocks are launched as clusters or together";
  if (found.launch->block.size() != 1) return "its blocks have more than one dimension";
  const SyntaxNode& kernel = context.tree.node(found.kernel);
  const int body = kernel.children.back();
  if (!FindMostThreads(context, context.tree.Text({kernel.range.begin, context.tree.node(body).range.begin}), found))
    return "its __launch_bounds__ are no number of parameters";
  return "";
}

}  // namespace evo
