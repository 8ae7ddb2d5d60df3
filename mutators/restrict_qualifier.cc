#include "mutators/restrict_qualifier.h"

#include "mutators/syntax_queries.h"

namespace evo {
namespace {

// "const half* Q" to "const half* __restrict__ Q"; empty if it is no plain pointer or has the qualifier.
std::string Restricted(std::string_view parameter, const std::string& name) {
  const std::size_t star = parameter.rfind('*');
  const std::size_t at = parameter.rfind(name);
  if (star == std::string_view::npos || at == std::string_view::npos || at < star) return "";
  if (parameter.find("restrict") != std::string_view::npos) return "";
  return std::string(parameter.substr(0, star + 1)) + " __restrict__ " + std::string(parameter.substr(at));
}

}  // namespace

std::optional<Mutation> RestrictQualifier::Mutate(const MutationContext& context, Rng& rng) const {
  const SyntaxTree& tree = context.tree;
  std::vector<int> candidates;
  for (const int kernel : Kernels(tree)) {
    for (const int child : tree.node(kernel).children) {
      if (tree.node(child).kind_name == "ParmDecl" && !Restricted(tree.Text(child), tree.node(child).name).empty()) candidates.push_back(child);
    }
  }
  if (candidates.empty()) return std::nullopt;
  // All at once as often as one: the compiler can use the promise only if every pointer that might overlap makes it.
  const bool all = rng.Chance(0.5);
  const int one = candidates[rng.Below(candidates.size())];
  Edit edit{std::string(name()), {}, {}, {}, {}};
  for (const int parameter : candidates) {
    if (!all && parameter != one) continue;
    edit.source.push_back({edit.anchors.size(), Placement::kReplace, Restricted(tree.Text(parameter), tree.node(parameter).name)});
    edit.anchors.push_back(tree.AnchorOf(parameter));
  }
  return edit;
}

}  // namespace evo
