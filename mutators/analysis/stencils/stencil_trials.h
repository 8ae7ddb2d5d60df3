#pragma once

#include <set>
#include <string>

#include "mutators/analysis/grid_runs/launch_runs.h"
#include "mutators/analysis/stencils/stencil.h"
#include "mutators/analysis/stencils/stencil_launch.h"
#include "mutators/analysis/stencils/stencil_sampler.h"
#include "mutators/analysis/stencils/stencil_sites.h"

namespace evo {

// Runs threads again, and checks that they do what was found for all sizes.
class StencilTrials {
 public:
  // The arguments must outlive the object. `launches`: those from which it was found.
  StencilTrials(const MutationContext& context, LaunchRuns& runs, StencilSampler& sampler, const StencilSites& sites,
                const StencilLaunches& launches)
      : context_(context), runs_(runs), sampler_(sampler), sites_(sites), launches_(launches) {}

  // Some threads of a launch whose sizes are beyond all numbers of the code. Tables that they do not read as such are no longer
  // among those of `found`. `counts`: sizes that are a few elements.
  bool RunLarge(Stencil& found, const std::set<std::string>& counts);
  // Whether nothing but the thread and the sizes decides what is read. Sets the parameters for which it was shown.
  bool RunSymbolic(Stencil& found);
  const std::string& why() const { return why_; }

 private:
  bool Refuse(std::string why);
  bool HasThreadsForAll(const Stencil& found, const std::set<std::string>& counts) const;
  bool DoesAsFound(const StencilLaunch& launch, const StencilThread& thread, const Stencil& found) const;
  std::set<int> SizesOf(const Stencil& found) const;
  bool IsAllowed(int symbol, const std::set<int>& sizes) const;

  const MutationContext& context_;
  LaunchRuns& runs_;
  StencilSampler& sampler_;
  const StencilSites& sites_;
  const StencilLaunches& launches_;
  std::string why_;
};

}  // namespace evo
