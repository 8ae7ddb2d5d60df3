#include "mutators/mutator.h"

#include <algorithm>

#include "mutators/analysis/source/deciding_parameters.h"
#include "mutators/analysis/source/indentation.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {

Edit MakeEdit(const SyntaxTree& tree, std::string_view op, const Proposal& proposal) {
  Edit edit;
  edit.op = op;
  std::vector<int> anchored;
  const auto anchor = [&](int node) {
    const auto known = std::find(anchored.begin(), anchored.end(), node);
    if (known != anchored.end()) return static_cast<std::size_t>(known - anchored.begin());
    anchored.push_back(node);
    edit.anchors.push_back(tree.AnchorOf(node));
    return anchored.size() - 1;
  };
  for (const Proposal::Change& change : proposal.changes) {
    const std::size_t index = anchor(change.node);
    edit.source.push_back({index, change.placement, change.text});
  }
  for (const int node : proposal.also_anchored) anchor(node);
  edit.launch = proposal.launch;
  edit.parameters = proposal.parameters;
  edit.brings = proposal.brings;
  edit.constraints = proposal.constraints;
  return edit;
}

std::vector<std::string> SourceMutator::Refusals(const MutationContext&) const { return {}; }

Edit SourceMutator::EditOf(const MutationContext& context, const Proposal& proposal) const {
  Edit edit = MakeEdit(context.tree, name(), proposal);
  if (const std::string unit = IndentUnit(context.tree); unit != "  " && !proposal.indented) {
    for (std::size_t i = 0; i < edit.source.size(); ++i)
      edit.source[i].text = Reindented(edit.source[i].text, IndentOf(context.tree, proposal.changes[i].node), unit);
  }
  if (!rests_on_code()) return edit;
  for (const Proposal::Change& change : proposal.changes) {
    const SyntaxNode& node = context.tree.node(change.node);
    const bool whole = node.kind_name == "FunctionDecl" || node.kind_name == "FunctionTemplate";
    const int function = whole ? change.node : node.function;
    if (function < 0) continue;
    edit.parameters.merge(DecidingParameters(context.tree.text(), context.genome.parameters, context.tree.node(function).range));
  }
  return edit;
}

std::optional<Genome> SourceMutator::Mutate(const MutationContext& context, Rng& rng) const {
  const std::vector<Proposal> proposals = Proposals(context);
  if (proposals.empty()) return std::nullopt;
  Genome child = context.genome;
  child.edits.push_back(EditOf(context, proposals[rng.Below(proposals.size())]));
  for (const BroughtParameter& brought : child.edits.back().brings) child.parameters[brought.name] = brought.initial;
  return child;
}

}  // namespace evo
