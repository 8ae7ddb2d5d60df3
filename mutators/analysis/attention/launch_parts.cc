#include "mutators/analysis/attention/launch_parts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// How many launches before and behind that of the softmax.
struct Reach {
  std::size_t before, behind;
};
constexpr std::array kReaches{Reach{1, 1}, Reach{0, 1}, Reach{2, 1}, Reach{1, 2}, Reach{1, 0}, Reach{0, 0}};
constexpr std::size_t kMostLaunchParts = 6;

bool HasExponential(const SyntaxTree& tree, const std::string& kernel) {
  const auto functions = Functions(tree);
  return std::any_of(functions.begin(), functions.end(), [&](int function) {
    return tree.node(function).name == kernel && tree.Text(function).find("exp") != std::string_view::npos;
  });
}

bool NamesBuffer(const Step& step, const std::string& buffer) {
  if (step.memset && step.memset->buffer == buffer) return true;
  return step.launch && std::any_of(step.launch->arguments.begin(), step.launch->arguments.end(),
                                    [&](const std::string& argument) { return ContainsName(argument, buffer); });
}

}  // namespace

std::vector<KernelTemplate> LaunchPartsWithExponentials(const MutationContext& context) {
  std::vector<KernelTemplate> parts;
  const auto& steps = context.rendered.steps;
  std::vector<std::size_t> launches;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].repeat || steps[i].end) return parts;
    if (steps[i].launch) launches.push_back(i);
  }
  for (std::size_t softmax = 0; softmax < launches.size(); ++softmax) {
    if (!HasExponential(context.tree, steps[launches[softmax]].launch->kernel)) continue;
    for (const auto& [before, behind] : kReaches) {
      if (before > softmax || softmax + behind >= launches.size() || before + behind + 1 == launches.size()) continue;
      const auto first = steps.begin() + static_cast<std::ptrdiff_t>(launches[softmax - before]);
      const auto last = steps.begin() + static_cast<std::ptrdiff_t>(launches[softmax + behind]) + 1;
      const auto outside = [&](const auto& holds) {
        return std::any_of(steps.begin(), first, holds) || std::any_of(last, steps.end(), holds);
      };
      const bool shared = std::any_of(first, last, [&](const Step& step) {
        return step.launch &&
               outside([&](const Step& other) { return other.launch && other.launch->kernel == step.launch->kernel; });
      });
      if (shared || parts.size() >= kMostLaunchParts) continue;
      KernelTemplate part = context.rendered;
      part.steps.assign(first, last);
      std::erase_if(part.workspaces, [&](const auto& workspace) {
        return outside([&](const Step& step) { return NamesBuffer(step, workspace.name); });
      });
      parts.push_back(std::move(part));
    }
  }
  return parts;
}

}  // namespace evo
