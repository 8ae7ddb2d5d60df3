#include "mutators/analysis/attention/launched_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>

#include "mutators/analysis/source/source_query.h"

namespace evo {

std::optional<std::vector<AttentionOfLaunches::Passed>> PassedFor(const SyntaxTree& tree,
                                                                  const std::vector<SourceRuns::Link>& links,
                                                                  const std::string& scale, std::string& why) {
  std::set<std::string> names;
  for (const SourceRange& range : Tokenize(scale)) names.emplace(scale.substr(range.begin, range.size()));
  for (const SyntaxNode& node : tree.nodes()) {
    if (node.kind_name != "VarDecl" || node.function < 0 || !names.contains(node.name)) continue;
    why = fmt::format("{}, by which it multiplies scores, is a variable", node.name);
    return std::nullopt;
  }
  std::vector<AttentionOfLaunches::Passed> all;
  for (const SourceRuns::Link& link : links) {
    if (link.launch == nullptr) continue;
    std::size_t place = 0;
    for (const int child : tree.node(link.kernel).children) {
      const SyntaxNode& parameter = tree.node(child);
      if (parameter.kind_name != "ParmDecl" || place >= link.launch->arguments.size()) continue;
      const AttentionOfLaunches::Passed passed{WithoutConst(parameter.type), parameter.name, link.launch->arguments[place++]};
      if (!names.contains(passed.name) || std::find(all.begin(), all.end(), passed) != all.end()) continue;
      if (std::any_of(all.begin(), all.end(), [&](const auto& other) { return other.name == passed.name; })) {
        why = fmt::format("{} is another number in another launch", passed.name);
        return std::nullopt;
      }
      all.push_back(passed);
    }
  }
  return all;
}

}  // namespace evo
