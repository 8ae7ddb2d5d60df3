#include "mutators/parallelism/whole_source.h"

#include <fmt/format.h>

#include "syntax/syntax_tree.h"

namespace evo {

void ReplaceLaunches(const MutationContext& context, const WholeSource& by, Proposal& proposal) {
  const SyntaxTree& tree = context.tree;
  const bool all = by.when.empty();
  if (!all) proposal.changes.push_back({by.functions.front(), Placement::kBefore, by.text + "\n\n"});
  for (const int function : by.functions) {
    if (all) proposal.changes.push_back({function, Placement::kReplace, function == by.functions.front() ? by.text : ""});
    const auto& children = tree.node(function).children;
    if (!children.empty() && tree.node(children.back()).kind_name == "CompoundStmt")
      proposal.also_anchored.push_back(children.back());
  }
  for (const std::string& line : by.lines) proposal.launch.push_back({by.anchor, by.ahead ? "ahead" : "before", line});
  for (const std::string& kernel : by.kernels)
    proposal.launch.push_back({kernel, all ? "removed" : "when", all ? "" : fmt::format("!({})", by.when)});
  if (all && !context.rendered.workspaces.empty()) proposal.launch.push_back({by.kernel, "unused", ""});
}

}  // namespace evo
