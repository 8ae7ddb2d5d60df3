#include "mutators/parallelism/convolutions/merged_convolution.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/convolutions/convolution_results.h"
#include "mutators/analysis/grid_runs/grid_source.h"
#include "mutators/analysis/numbers/step_budget.h"
#include "mutators/analysis/plain_source/plain_source.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/analysis/thread_runs/thread_block.h"
#include "mutators/breeding/edit_application.h"
#include "mutators/parallelism/attention/merged_attention.h"
#include "mutators/parallelism/whole_source.h"

namespace evo {
namespace {

struct MergedConvolutions {
  std::vector<MergedAttention> merged;
  std::vector<std::string> reasons;
};

MutationContext InsideOf(const MutationContext& context, const MergedAttention& merged) {
  return {context.kernel_template, context.genome, *merged.tree, merged.rendered};
}

// With a kernel in the place of all launches, or of one (`only`).
std::optional<MergedAttention> MergeConvolution(const MutationContext& context, const LaunchedConvolution& found,
                                                const LaunchDirective* only) {
  MergedAttention merged;
  const GridSource source(context);
  ConvolutionKernelText text = found.text;
  merged.kernel = text.kernel = UnusedName(context.tree.text(), "convolution_of_elements");
  std::vector<std::string> kernels = source.Kernels();
  std::vector<int> functions = source.AllFunctions();
  std::string anchor;
  for (const Step& step : context.rendered.steps) {
    if (step.launch) anchor = step.launch->kernel;
  }
  if (only != nullptr) {
    anchor = only->kernel;
    kernels = {anchor};
    functions = {source.KernelNamed(anchor)};
  }
  std::string code = text.Kernel();
  while (code.ends_with('\n')) code.pop_back();
  merged.proposal.parameters = found.parameters;
  ReplaceLaunches(context, {merged.kernel, code, {text.Launch()}, "", anchor, kernels, functions}, merged.proposal);
  const AppliedEdit applied =
      ApplyEdit(context.tree, context.genome.parameters, MakeEdit(context.tree, "merged_convolution", merged.proposal));
  if (!applied.dropped.empty()) return std::nullopt;
  merged.rendered = ParseTemplate(context.rendered.name, applied.text);
  merged.tree = context.tree.Reparsed(applied.text);
  const bool same = merged.tree && LeavesTheSame(InsideOf(context, merged), merged.kernel, found);
  return same ? std::optional(std::move(merged)) : std::nullopt;
}

// Tensor cores and assembly are not run on numbers.
bool IsRunOnNumbers(const std::string& text) {
  return text.find("asm") == std::string::npos && text.find("wmma") == std::string::npos;
}

MergedConvolutions MergeConvolutions(const MutationContext& context) {
  MergedConvolutions all;
  const GridSource source(context);
  const auto kernels = source.Kernels();
  const auto is_missing = [&](const std::string& kernel) { return source.KernelNamed(kernel) < 0; };
  if (kernels.empty() || std::any_of(kernels.begin(), kernels.end(), is_missing) || !context.genome.edits.empty() ||
      !IsRunOnNumbers(CodeOf(context.tree)))
    return all;
  const MutationContext plain = WrittenOut(context);
  std::vector<const LaunchDirective*> parts{nullptr};
  for (const std::string& kernel : kernels) {
    const LaunchDirective* const launch = OnlyLaunch(plain.rendered, kernel);
    if (source.launches().size() > 1 && launch != nullptr && launch->cluster.empty() && !launch->cooperative)
      parts.push_back(launch);
  }
  for (const LaunchDirective* const only : parts) {
    std::string why;
    const auto found = FindConvolutionByResults(plain, only, why);
    const bool several = only == nullptr && source.launches().size() > 1;
    if (only == nullptr && !several && why.starts_with(kernels.front() + ": ")) why = why.substr(kernels.front().size() + 2);
    if (!why.empty())
      all.reasons.push_back(fmt::format("{}: {}",
                                        several ? "all launches together"
                                        : only  ? only->kernel
                                                : kernels.front(),
                                        why));
    auto merged = found ? MergeConvolution(context, *found, only) : std::nullopt;
    if (merged) all.merged.push_back(std::move(*merged));
    if (merged && only == nullptr) break;
  }
  return all;
}

// Found once for each source.
const MergedConvolutions& MergedConvolutionsIn(const MutationContext& context) {
  std::string key = fmt::format("merged convolutions with {}", fmt::join(context.genome.parameters, ","));
  for (const int function : Functions(context.tree)) key += IsKnownElsewhere(context, function) ? '1' : '0';
  return context.tree.Kept<MergedConvolutions>(key, [&] {
    const StepBudget budget;
    return MergeConvolutions(context);
  });
}

}  // namespace

std::vector<Proposal> InMergedConvolution(const MutationContext& context,
                                          const std::function<std::vector<Proposal>(const MutationContext&)>& find) {
  std::vector<Proposal> proposals;
  for (const MergedAttention& merged : MergedConvolutionsIn(context).merged) {
    for (const Proposal& proposal : find(InsideOf(context, merged))) {
      if (auto whole = WithMerged(merged, proposal)) proposals.push_back(*std::move(whole));
    }
  }
  return proposals;
}

std::vector<std::string> WhyNoMergedConvolution(const MutationContext& context,
                                                const std::function<std::vector<std::string>(const MutationContext&)>& refuse) {
  std::vector<std::string> reasons = MergedConvolutionsIn(context).reasons;
  for (const MergedAttention& merged : MergedConvolutionsIn(context).merged) {
    for (const std::string& why : refuse(InsideOf(context, merged))) {
      if (why.starts_with(merged.kernel + ":")) reasons.push_back(why);
    }
  }
  return reasons;
}

}  // namespace evo
