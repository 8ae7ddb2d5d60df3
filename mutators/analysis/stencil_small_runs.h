#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "mutators/analysis/launch_runs.h"
#include "mutators/analysis/stencil_launch.h"
#include "mutators/analysis/stencil_sampler.h"

namespace evo {

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

 private:
  bool Refuse(std::string why);
  std::optional<LaunchRuns::Setting> SettingOf(std::size_t launch) const;
  bool IsPlausible();
  bool RunAll(std::size_t launch);

  LaunchRuns& runs_;
  StencilSampler& sampler_;
  StencilLaunches launches_;
  bool plausible_ = false;
  std::string why_;
};

}  // namespace evo
