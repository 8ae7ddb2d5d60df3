#include "mutators/parallelism/stencils/walking_stencil.h"

#include <fmt/format.h>

#include "mutators/analysis/source/global_memory.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {

Proposal WalkingStencil(const MutationContext& context, const Stencil& found, const std::string& functions,
                        const std::string& body, const std::string& grid, const std::string& block) {
  const SyntaxTree& tree = context.tree;
  Proposal proposal;
  proposal.changes.push_back({found.kernel, Placement::kBefore, functions});
  // Without it, what is read would be loaded anew after each store.
  for (const int parameter : tree.node(found.kernel).children) {
    const std::string text(tree.node(parameter).kind_name == "ParmDecl" ? tree.Text(parameter) : "");
    const std::size_t star = text.rfind('*');
    if (star == std::string::npos || text.find('*') != star || text.find("__restrict") != std::string::npos ||
        IsPassedTwice(tree, context.rendered, parameter))
      continue;
    const std::string rest = text.substr(text.find_first_not_of(' ', star + 1));
    const std::string before = text.substr(0, text.find_last_not_of(' ', star - 1) + 1);
    proposal.changes.push_back({parameter, Placement::kReplace, fmt::format("{}* __restrict__ {}", before, rest)});
  }
  proposal.changes.push_back({tree.node(found.kernel).children.back(), Placement::kReplace, body});
  const std::string& launched = found.launch->kernel;
  proposal.launch = {{launched, "grid", grid}, {launched, "block", block}};
  proposal.parameters = found.parameters;
  return proposal;
}

}  // namespace evo
