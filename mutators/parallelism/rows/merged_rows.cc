#include "mutators/parallelism/rows/merged_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/grid_runs/grid_source.h"
#include "mutators/analysis/numbers/step_budget.h"
#include "mutators/analysis/plain_source/plain_source.h"
#include "mutators/analysis/rows/row_results.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/breeding/edit_application.h"
#include "mutators/parallelism/attention/merged_attention.h"
#include "mutators/parallelism/whole_source.h"

namespace evo {
namespace {

MergedAttention MergeRows(const MutationContext& context) {
  const StepBudget budget;
  MergedAttention merged;
  const GridSource source(context);
  const auto is_missing = [&](const std::string& kernel) { return source.KernelNamed(kernel) < 0; };
  const auto kernels = source.Kernels();
  if (kernels.empty() || std::any_of(kernels.begin(), kernels.end(), is_missing) || !context.genome.edits.empty()) return merged;
  const MutationContext plain = WrittenOut(context);
  auto rows = AsRowsOfLaunches(plain, merged.why);
  if (!rows) return merged;
  merged.kernel = rows->text.kernel = UnusedName(context.tree.text(), "rows_of_matrix");
  std::string anchor;
  for (const Step& step : context.rendered.steps) {
    if (step.launch) anchor = step.launch->kernel;
  }
  std::string text = rows->text.Kernel();
  while (text.ends_with('\n')) text.pop_back();
  merged.proposal.parameters = rows->parameters;
  const std::string when = rows->when.empty() ? "" : fmt::format(" when({})", rows->when);
  ReplaceLaunches(
      context, {merged.kernel, text, {rows->text.Launch() + when}, rows->when, anchor, source.Kernels(), source.AllFunctions()},
      merged.proposal);
  const AppliedEdit applied =
      ApplyEdit(context.tree, context.genome.parameters, MakeEdit(context.tree, "merged_rows", merged.proposal));
  if (!applied.dropped.empty()) {
    merged.why = applied.dropped;
    return merged;
  }
  merged.rendered = ParseTemplate(context.rendered.name, applied.text);
  merged.tree = context.tree.Reparsed(applied.text);
  return merged;
}

// Found once for each source.
const MergedAttention& MergedRowsIn(const MutationContext& context) {
  return context.tree.Kept<MergedAttention>(fmt::format("merged rows with {}", fmt::join(context.genome.parameters, ",")),
                                            [&] { return MergeRows(context); });
}

}  // namespace

std::vector<Proposal> InMergedRows(const MutationContext& context,
                                   const std::function<std::vector<Proposal>(const MutationContext&)>& find) {
  std::vector<Proposal> proposals;
  const MergedAttention& merged = MergedRowsIn(context);
  if (!merged.tree) return proposals;
  const MutationContext inside{context.kernel_template, context.genome, *merged.tree, merged.rendered};
  for (const Proposal& proposal : find(inside)) {
    if (auto whole = WithMerged(merged, proposal)) proposals.push_back(*std::move(whole));
  }
  return proposals;
}

std::string WhyNoMergedRows(const MutationContext& context) { return MergedRowsIn(context).why; }

}  // namespace evo
