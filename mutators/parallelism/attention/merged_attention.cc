#include "mutators/parallelism/attention/merged_attention.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <utility>
#include <vector>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/attention/attention_launches.h"
#include "mutators/analysis/attention/launch_parts.h"
#include "mutators/analysis/grid_runs/grid_source.h"
#include "mutators/analysis/numbers/step_budget.h"
#include "mutators/analysis/plain_source/plain_source.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/breeding/edit_application.h"
#include "mutators/parallelism/attention/merged_text.h"
#include "mutators/parallelism/changed_kernel.h"
#include "mutators/parallelism/whole_source.h"

namespace evo {
namespace {

Proposal Merge(const SyntaxTree& tree, const AttentionOfLaunches& chain, AttentionAdditions& additions) {
  const std::string kernel = tree.node(chain.kernel).name;
  const MergedText merged = TextOfMerged(tree, chain, kernel);
  additions = merged.additions;
  Proposal proposal;
  proposal.changes.push_back({chain.kernel, Placement::kReplace, merged.text});
  proposal.launch = {
      {kernel, "arguments", merged.arguments}, {kernel, "grid", merged.grid}, {kernel, "block", "32"}, {kernel, "shared", ""}};
  for (const std::string& other : chain.others) proposal.launch.push_back({other, "removed", ""});
  for (const int function : Functions(tree)) {
    for (const std::string& other : chain.others) {
      if (tree.node(function).name == other) proposal.changes.push_back({function, Placement::kReplace, ""});
    }
  }
  proposal.launch.push_back({kernel, "unused", ""});
  proposal.parameters = chain.parameters;
  return proposal;
}

// Of launches among others.
std::optional<AttentionOfLaunches> InPartOfLaunches(const MutationContext& context) {
  for (const KernelTemplate& part : LaunchPartsWithExponentials(context)) {
    const MutationContext inside{context.kernel_template, context.genome,           context.tree, part,
                                 context.second_parent,   context.product_elsewhere};
    std::string why;
    if (auto found = AsAttentionOfLaunches(inside, why)) return found;
  }
  return std::nullopt;
}

// Of a source in which templates and structs have to be written out first: a new kernel in the place of all others.
std::optional<Proposal> MergeWrittenOut(const MutationContext& context, MergedAttention& merged) {
  const bool has_any = std::any_of(context.rendered.steps.begin(), context.rendered.steps.end(), [](const Step& step) {
    if (!step.launch) return false;
    const auto& arguments = step.launch->arguments;
    return step.launch->kernel_expression != step.launch->kernel ||
           std::any_of(arguments.begin(), arguments.end(), [](const std::string& one) { return one.starts_with("{"); });
  });
  if (!has_any) return std::nullopt;
  const MutationContext plain = WrittenOut(context);
  const GridSource source(context);
  const auto is_missing = [&](const std::string& kernel) { return source.KernelNamed(kernel) < 0; };
  const auto kernels = source.Kernels();
  if (&plain.tree == &context.tree || kernels.empty() || std::any_of(kernels.begin(), kernels.end(), is_missing))
    return std::nullopt;
  std::string why;
  const auto chain = AsAttentionOfLaunches(plain, why);
  if (!why.empty()) merged.why = why;
  if (!chain) return std::nullopt;
  merged.kernel = UnusedName(context.tree.text(), "attention_of_rows");
  MergedText text = TextOfMerged(plain.tree, *chain, merged.kernel);
  merged.additions = text.additions;
  while (text.text.ends_with('\n')) text.text.pop_back();
  Proposal proposal;
  proposal.parameters = chain->parameters;
  const std::string line = fmt::format("launch {}({}) grid({}) block(32)", merged.kernel, text.arguments, text.grid);
  ReplaceLaunches(context, {merged.kernel, text.text, {line}, "", kernels.back(), kernels, source.AllFunctions()}, proposal);
  return proposal;
}

}  // namespace

const MergedAttention& MergedAttentionIn(const MutationContext& context) {
  return context.tree.Kept<MergedAttention>(
      fmt::format("merged attention with {}", fmt::join(context.genome.parameters, ",")), [&] {
        const StepBudget budget;
        MergedAttention merged;
        auto chain = AsAttentionOfLaunches(context, merged.why);
        if (!chain) chain = InPartOfLaunches(context);
        if (chain) {
          merged.kernel = context.tree.node(chain->kernel).name;
          merged.proposal = Merge(context.tree, *chain, merged.additions);
        } else if (auto whole = MergeWrittenOut(context, merged)) {
          merged.proposal = *std::move(whole);
        } else {
          return merged;
        }
        const AppliedEdit applied =
            ApplyEdit(context.tree, context.genome.parameters, MakeEdit(context.tree, "merged_attention", merged.proposal));
        if (!applied.dropped.empty()) return merged;
        merged.rendered = ParseTemplate(context.rendered.name, applied.text);
        merged.tree = context.tree.Reparsed(applied.text);
        return merged;
      });
}

Attention WholeAttention(const MutationContext& context, const MutationContext& source, const Attention& found) {
  if (&source.tree == &context.tree) return found;
  const MergedAttention& merged = MergedAttentionIn(context);
  return source.tree.node(found.kernel).name == merged.kernel ? WithAdditions(source.tree, found, merged.additions) : found;
}

bool HasOneRow(const MutationContext& context, const MutationContext& source) {
  return &source.tree != &context.tree && !MergedAttentionIn(context).additions.one_row.empty();
}

std::optional<Proposal> WithMerged(const MergedAttention& merged, const Proposal& proposal) {
  const auto text = KernelWith(*merged.tree, merged.kernel, proposal);
  if (!text) return std::nullopt;
  Proposal result = merged.proposal;
  result.changes.front().text = *text + (result.changes.front().placement == Placement::kBefore ? "\n\n" : "");
  for (const Proposal::Change& change : proposal.changes) {
    if (change.text.starts_with("#include "))
      result.changes.push_back({result.changes.front().node, Placement::kBefore, change.text});
  }
  result.launch.insert(result.launch.end(), proposal.launch.begin(), proposal.launch.end());
  result.brings = proposal.brings;
  result.constraints = proposal.constraints;
  for (const auto& [name, value] : proposal.parameters) result.parameters[name] = value;
  if (merged.additions.one_row.empty()) return result;
  for (LaunchChange& change : result.launch) boost::replace_all(change.text, merged.additions.one_row, "1");
  return result;
}

const MergedAttention* VisitMerged(const MutationContext& context, const ProposeChange& propose,
                                   const std::function<bool(const MutationContext&, const ProposeChange&)>& visit) {
  bool found = false;
  const bool all = visit(context, [&](Proposal proposal) { found = true, propose(std::move(proposal)); });
  if (found || all) return nullptr;
  const MergedAttention& merged = MergedAttentionIn(context);
  if (!merged.tree) return &merged;
  const MutationContext inside{context.kernel_template, context.genome, *merged.tree, merged.rendered};
  visit(inside, [&](const Proposal& proposal) {
    if (auto whole = WithMerged(merged, proposal)) propose(*std::move(whole));
  });
  return &merged;
}

}  // namespace evo
