#include "mutators/launch_bounds.h"

#include <fmt/format.h>

#include <algorithm>

#include "mutators/syntax_queries.h"

namespace evo {
namespace {

// The block size of the kernel's launches as text over parameters; empty if it depends on anything else.
std::string BlockText(const MutationContext& context, const std::string& kernel) {
  std::string text;
  for (const Step& step : context.rendered.steps) {
    if (!step.launch || step.launch->kernel != kernel) continue;
    std::string block;
    for (const Expression& size : step.launch->block) {
      for (const std::string& used : size.Names()) {
        const auto& parameters = context.rendered.space.parameters;
        if (std::none_of(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name == used; })) return "";
      }
      block += (block.empty() ? "" : " * ") + (step.launch->block.size() > 1 ? "(" + size.text() + ")" : size.text());
    }
    if (!text.empty() && text != block) return "";
    text = block;
  }
  return text;
}

}  // namespace

std::optional<Mutation> LaunchBounds::Mutate(const MutationContext& context, Rng& rng) const {
  const SyntaxTree& tree = context.tree;
  const std::vector<int> kernels = Kernels(tree);
  if (kernels.empty()) return std::nullopt;
  const int kernel = kernels[rng.Below(kernels.size())];
  const std::string block = BlockText(context, tree.node(kernel).name);
  if (block.empty()) return std::nullopt;
  const auto blocks = rng.Below(5);   // none, or at least 1, 2, 4, 8 a multiprocessor
  const std::string bounds = blocks == 0 ? fmt::format("__launch_bounds__({})", block) : fmt::format("__launch_bounds__({}, {})", block, 1 << (blocks - 1));
  const bool remove = rng.Chance(0.2);
  int present = -1;
  int function_name = -1;
  for (const int child : tree.node(kernel).children) {
    if (tree.node(child).kind == kLaunchBoundsNode) present = child;
    if (tree.node(child).kind == kFunctionNameNode) function_name = child;
  }
  if (present >= 0) {
    if (!remove && SpelledTokens(tree.Text(present)) == SpelledTokens(bounds)) return std::nullopt;
    return Edit{std::string(name()), {tree.AnchorOf(present)}, {{0, Placement::kReplace, remove ? "" : bounds}}, {}, {}};
  }
  if (function_name < 0) return std::nullopt;
  return Edit{std::string(name()), {tree.AnchorOf(function_name)}, {{0, Placement::kBefore, bounds + " "}}, {}, {}};
}

}  // namespace evo
