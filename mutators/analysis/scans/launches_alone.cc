#include "mutators/analysis/scans/launches_alone.h"

#include <algorithm>

#include "mutators/analysis/grid_runs/grid_source.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

KernelTemplate WithOnly(KernelTemplate rendered, const LaunchDirective& launch) {
  Step step;
  step.launch = launch;
  rendered.steps = {step};
  rendered.workspaces.clear();
  return rendered;
}

}  // namespace

LaunchAlone::LaunchAlone(const MutationContext& source, const LaunchDirective& launch)
    : rendered_(WithOnly(source.rendered, launch)),
      context_{source.kernel_template, source.genome, source.tree, rendered_, source.second_parent, source.product_elsewhere} {}

std::vector<std::unique_ptr<LaunchAlone>> LaunchesAlone(const MutationContext& source) {
  std::vector<std::unique_ptr<LaunchAlone>> alone;
  const GridSource all(source);
  if (all.has_loop() || all.launches().size() < 2) return alone;
  for (const LaunchDirective* launch : all.launches()) {
    const auto is_of_kernel = [&](const LaunchDirective* other) { return other->kernel == launch->kernel; };
    const int kernel = all.KernelNamed(launch->kernel);
    if (launch->when || kernel < 0 || !Cooperates(source.tree, kernel)) continue;
    if (std::count_if(all.launches().begin(), all.launches().end(), is_of_kernel) != 1) continue;
    alone.push_back(std::make_unique<LaunchAlone>(source, *launch));
  }
  return alone;
}

}  // namespace evo
