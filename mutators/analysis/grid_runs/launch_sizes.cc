#include "mutators/analysis/grid_runs/launch_sizes.h"

#include <algorithm>
#include <cstddef>

#include "kernel_templates/launch_argument.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {

LaunchSizes::LaunchSizes(const MutationContext& context, const LaunchDirective& launch, int kernel) : context_(context) {
  const SyntaxTree& tree = context.tree;
  std::vector<int> parameters;
  double real = 0.3;
  for (const int child : tree.node(kernel).children) {
    if (tree.node(child).kind_name != "ParmDecl") continue;
    parameters.push_back(child);
    reals_[child] = real += 0.11;
  }
  if (parameters.size() != launch.arguments.size()) {
    refusal_ = "its launch line has another number of arguments";
    return;
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string type = WithoutConst(tree.node(parameters[i]).type);
    if (type.find('*') != std::string::npos || type == "float" || type == "double") continue;
    const LaunchArgumentText argument = ParseLaunchArgument(launch.arguments[i]);
    if (argument.kind == LaunchArgumentText::Kind::kStruct) {
      refusal_ = "its launch line passes a struct";
      return;
    }
    arguments_.emplace_back(parameters[i], Expression::Parse(argument.text));
    AddNames(arguments_.back().second);
  }
}

void LaunchSizes::AddNames(const Expression& expression) {
  for (const std::string& name : expression.Names()) {
    if (context_.genome.parameters.contains(name)) continue;
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
  }
}

}  // namespace evo
