#include "mutators/analysis/rows/row_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "mutators/analysis/numbers/step_budget.h"

namespace evo {
namespace {

// Errors count as a part of the largest element.
constexpr double kSameRowElement = 2e-5;
// Kernels that are parsed together.
constexpr std::size_t kBatch = 32;
constexpr std::int64_t kLabels = 1 << 14;

}  // namespace

BufferContents LabelsBelow(std::int64_t count) {
  BufferContents labels;
  for (std::int64_t i = 0; i < kLabels; ++i)
    labels[i] = static_cast<double>((i * 5 + 1 + i / 3) % std::max<std::int64_t>(1, count));
  return labels;
}
BufferContents LabelsOf(std::int64_t number) {
  BufferContents labels;
  for (std::int64_t i = 0; i < kLabels; ++i) labels[i] = static_cast<double>(number);
  return labels;
}

bool AreNear(const BufferContents& expected, const BufferContents& stored) {
  double largest = 0;
  for (const auto& [index, value] : expected) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  return std::all_of(expected.begin(), expected.end(), [&](const auto& element) {
    const auto other = stored.find(element.first);
    if (other == stored.end()) return false;
    const double a = element.second, b = other->second;
    return a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= kSameRowElement * largest;
  });
}

std::vector<std::map<std::string, BufferContents>> RowResultsOf(const MutationContext& context,
                                                                const std::vector<std::string>& buffers,
                                                                std::vector<RowKernelText> kernels, const LaunchTrial& trial) {
  std::vector<std::map<std::string, BufferContents>> results(kernels.size());
  std::string text = context.tree.text() + "\n";
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    kernels[i].kernel = fmt::format("rows_of_candidate_{}", i);
    text += fmt::format("// evo:{}\n{}", kernels[i].Launch(), kernels[i].Kernel());
  }
  const auto tree = context.tree.Reparsed(text);
  if (!tree) return results;
  const KernelTemplate all = ParseTemplate("rows", text);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    KernelTemplate one = all;
    std::erase_if(one.steps, [&](const Step& step) { return !step.launch || step.launch->kernel != kernels[i].kernel; });
    const std::string& output = kernels[i].stored.front().buffer.name;
    for (auto step = context.rendered.steps.rbegin(); step != context.rendered.steps.rend(); ++step) {
      if (step->memset && step->memset->buffer == output) one.steps.insert(one.steps.begin(), *step);
    }
    const MutationContext inside{context.kernel_template, context.genome, *tree, one};
    SourceRuns runs(inside);
    if (!runs.FindLaunches()) continue;
    runs.SetBuffers(buffers);
    LaunchTrial whole = trial;
    whole.samples = false;
    LaunchedRun run;
    if (runs.Run(whole, run)) results[i] = std::move(run.stored);
  }
  return results;
}

void KeepMatching(const MutationContext& context, const std::vector<std::string>& buffers, const LaunchTrial& trial,
                  const BufferContents& expected, std::vector<RowKernelText>& candidates) {
  std::vector<RowKernelText> kept;
  for (std::size_t begin = 0; begin < candidates.size() && !StepBudget::IsSpent(); begin += kBatch) {
    const std::size_t end = std::min(begin + kBatch, candidates.size());
    const std::vector<RowKernelText> batch(candidates.begin() + static_cast<std::ptrdiff_t>(begin),
                                           candidates.begin() + static_cast<std::ptrdiff_t>(end));
    const auto stored = RowResultsOf(context, buffers, batch, trial);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto left = stored[i].find(batch[i].stored.front().buffer.name);
      if (left == stored[i].end() || left->second.empty() || expected.empty() || !AreNear(expected, left->second)) continue;
      // The last one is among those that are run.
      const bool whole =
          trial.samples ? left->second.rbegin()->first == expected.rbegin()->first : left->second.size() == expected.size();
      if (whole) kept.push_back(batch[i]);
    }
  }
  candidates = std::move(kept);
}

}  // namespace evo
