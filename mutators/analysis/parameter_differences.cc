#include "mutators/analysis/parameter_differences.h"

#include <algorithm>

#include "mutators/analysis/source_query.h"
#include "mutators/analysis/work_sharing.h"

namespace evo {

std::map<std::string, std::pair<std::string, std::string>> AddedParameters(const SyntaxTree& earlier,
                                                                           const MutationContext& later) {
  std::map<std::string, std::pair<std::string, std::string>> added;
  const auto count = [](const SyntaxTree& tree, int kernel) {
    const auto& children = tree.node(kernel).children;
    return std::count_if(children.begin(), children.end(), [&](int child) { return tree.node(child).kind_name == "ParmDecl"; });
  };
  for (const int before : Functions(earlier)) {
    for (const int after : Functions(later.tree)) {
      const std::string& name = later.tree.node(after).name;
      if (earlier.node(before).name != name || count(later.tree, after) != count(earlier, before) + 1) continue;
      const LaunchDirective* const launch = OnlyLaunch(later.rendered, name);
      if (launch != nullptr && !launch->arguments.empty())
        added[name] = {std::string(later.tree.Text(LastParameter(later.tree, after))), launch->arguments.back()};
    }
  }
  return added;
}

}  // namespace evo
