#include "mutators/analysis/plain_source/parameter_differences.h"

#include <fmt/format.h>

#include <cstddef>
#include <vector>

#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {

std::map<std::string, std::pair<std::string, std::string>> AddedParameters(const SyntaxTree& earlier,
                                                                           const MutationContext& later) {
  std::map<std::string, std::pair<std::string, std::string>> added;
  const auto parameters_of = [](const SyntaxTree& tree, int kernel) {
    std::vector<int> parameters = tree.node(kernel).children;
    std::erase_if(parameters, [&](int child) { return tree.node(child).kind_name != "ParmDecl"; });
    return parameters;
  };
  for (const int before : Functions(earlier)) {
    for (const int after : Functions(later.tree)) {
      const std::string& name = later.tree.node(after).name;
      const auto parameters = parameters_of(later.tree, after);
      const std::size_t known = parameters_of(earlier, before).size();
      const LaunchDirective* const launch = OnlyLaunch(later.rendered, name);
      if (earlier.node(before).name != name || launch == nullptr || parameters.size() != launch->arguments.size()) continue;
      for (std::size_t i = known; i < parameters.size(); ++i) {
        auto& [texts, arguments] = added[name];
        texts += fmt::format("{}{}", texts.empty() ? "" : ", ", later.tree.Text(parameters[i]));
        arguments += fmt::format("{}{}", arguments.empty() ? "" : ", ", launch->arguments[i]);
      }
    }
  }
  return added;
}

}  // namespace evo
