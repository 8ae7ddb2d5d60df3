#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mutators/analysis/grid_runs/launch_runs.h"

namespace evo {

// A number as an expression of the kernel's parameters and of the launch line, and what it is in two launches.
struct LaunchNumber {
  std::string kernel;
  std::string launch;
  std::array<std::int64_t, 2> values;
};

// Expresses what numbers are in two launches by the kernel's integers.
class LaunchNumbers {
 public:
  // The arguments must outlive the object. `written`: what the kernel writes. The settings are those of the launches. `most`: by
  // how much integers may be multiplied, such as a row of pixels by the numbers of one.
  LaunchNumbers(const SyntaxTree& tree, const LaunchRuns& runs, const std::set<int>& written, const LaunchRuns::Setting& first,
                const LaunchRuns::Setting& second, std::int64_t most = 1)
      : tree_(tree), runs_(runs), written_(written), first_(first), second_(second), most_(most) {}

  // Each integer of the kernel that it does not write, and its multiples, plus `shift`.
  std::vector<LaunchNumber> Shifted(std::int64_t shift) const;
  // These with all shifts up to `furthest` in both directions; the nearest first.
  std::vector<LaunchNumber> Near(std::int64_t furthest) const;
  // The nearest of these that has the two values.
  std::optional<LaunchNumber> Find(const std::array<std::int64_t, 2>& values, std::int64_t furthest) const;

 private:
  const SyntaxTree& tree_;
  const LaunchRuns& runs_;
  const std::set<int>& written_;
  const LaunchRuns::Setting& first_;
  const LaunchRuns::Setting& second_;
  std::int64_t most_;
};

}  // namespace evo
