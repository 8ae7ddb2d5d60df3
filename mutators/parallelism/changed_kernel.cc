#include "mutators/parallelism/changed_kernel.h"

#include <algorithm>

#include "mutators/analysis/source/indentation.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/breeding/edit_application.h"

namespace evo {

std::optional<std::string> KernelWith(const SyntaxTree& tree, const std::string& name, const Proposal& proposal) {
  const auto functions = Functions(tree);
  const auto kernel = std::find_if(functions.begin(), functions.end(), [&](int one) { return tree.node(one).name == name; });
  if (kernel == functions.end()) return std::nullopt;
  const std::string unit = IndentUnit(tree);
  Proposal inside;
  for (const Proposal::Change& change : proposal.changes) {
    if (!IsWithin(tree, change.node, *kernel)) return std::nullopt;
    if (change.text.starts_with("#include ")) continue;
    inside.changes.push_back(change);
    if (unit != "  " && !proposal.indented)
      inside.changes.back().text = Reindented(change.text, IndentOf(tree, change.node), unit);
  }
  const AppliedEdit applied = ApplyEdit(tree, {}, MakeEdit(tree, "changed_kernel", inside));
  if (!applied.dropped.empty()) return std::nullopt;
  const SourceRange& range = tree.node(*kernel).range;
  const std::size_t behind = tree.text().size() - range.end;
  return applied.text.substr(range.begin, applied.text.size() - behind - range.begin);
}

}  // namespace evo
