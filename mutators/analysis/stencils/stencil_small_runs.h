#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mutators/analysis/grid_runs/launch_runs.h"
#include "mutators/analysis/stencils/stencil_launch.h"
#include "mutators/analysis/stencils/stencil_sampler.h"

namespace evo {

// Sizes of the launch line in the first or second small launch. Those among `counts` are a few, such as rows at an edge.
LaunchRuns::Sizes SmallSizesOfStencil(const LaunchRuns& runs, std::size_t launch, const std::set<std::string>& counts);
// Which of them may be counts: none, one, or two. Rows that are left out would otherwise be more than there are.
std::vector<std::set<std::string>> CountsOfStencil(const LaunchRuns& runs);

// Whether threads read elements of a buffer as far away as each other, a few each: all together at most so many halves of what
// one of them reads.
bool ReadAlike(const StencilLaunch& launch, std::size_t halves = 4);

// Runs all threads of two small launches of a kernel, if what a few of them read may be neighbours.
class StencilSmallRuns {
 public:
  // The arguments must outlive the object.
  StencilSmallRuns(LaunchRuns& runs, StencilSampler& sampler) : runs_(runs), sampler_(sampler) {}

  // False if the kernel is refused.
  bool Run();
  // The launches, in which rows and planes are not known yet.
  StencilLaunches& launches() { return launches_; }
  // Whether the kernel's threads read elements as far away as each other, so that it may be taken for a stencil.
  bool plausible() const { return plausible_; }
  const std::string& why() const { return why_; }
  // Sizes that are a few elements in the launches (SmallSizesOfStencil).
  const std::set<std::string>& counts() const { return counts_; }

 private:
  bool Refuse(std::string why);
  std::optional<LaunchRuns::Setting> SettingOf(std::size_t launch) const;
  bool IsPlausible();
  bool IsPlausibleIn(const LaunchRuns::Setting& setting, bool& stores);
  bool RunAll(std::size_t launch);

  LaunchRuns& runs_;
  StencilSampler& sampler_;
  StencilLaunches launches_;
  bool plausible_ = false;
  std::set<std::string> counts_;
  std::string why_;
};

}  // namespace evo
