#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "mutators/analysis/grid_runs/launch_runs.h"
#include "mutators/analysis/stencils/stencil_launch.h"

namespace evo {

// Runs threads of a kernel and keeps what those of them did that store an element. It refuses a kernel whose threads do what
// those of a stencil do not.
class StencilSampler {
 public:
  // No launch may read more, all of them together.
  static constexpr std::size_t kMostTouches = 1'000'000;

  // The argument must outlive the object. `decided`: elements decide what threads read.
  explicit StencilSampler(LaunchRuns& runs, bool decided = false) : runs_(runs), decided_(decided && !runs.together()) {}

  // Adds all threads of a launch that store an element. False if the kernel is refused.
  bool AddAll(StencilLaunch& launch);
  // Runs threads until `count` are there that store an element, but no more than `most`. How many were run; nullopt if the kernel
  // is refused.
  std::optional<std::size_t> AddSome(StencilLaunch& launch, std::size_t count, std::size_t most);
  // Why the kernel is refused; empty if it is not.
  const std::string& why() const { return why_; }

  // Of all threads so far: the buffers to which they stored, how many elements they read or stored, the largest number of the
  // code, and the macros and constants that they used.
  const std::set<int>& stored() const { return stored_; }
  std::size_t touched() const { return touched_; }
  std::int64_t largest_number() const { return largest_number_; }
  const std::set<std::string>& names() const { return names_; }

 private:
  bool Refuse(std::string why);
  bool Add(StencilLaunch& launch, std::int64_t number);
  bool AddOther(const LaunchRuns::Setting& setting, double element, StencilThread& thread);

  LaunchRuns& runs_;
  bool decided_;
  std::set<int> stored_;
  std::size_t touched_ = 0;
  std::int64_t largest_number_ = 0;
  std::set<std::string> names_;
  std::string why_;
};

}  // namespace evo
