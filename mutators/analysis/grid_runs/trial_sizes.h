#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "mutators/analysis/grid_runs/launch_runs.h"
#include "mutators/mutator.h"

namespace evo {

// Numbers for the sizes of a source, some of which may have to be multiples of a unit, as of a tile. Sizes without one have 1.
class TrialSizes {
 public:
  using Units = std::map<std::string, std::int64_t>;
  TrialSizes(std::vector<std::string> names, Units units) : names_(std::move(names)), units_(std::move(units)) {}

  bool has_units() const { return !units_.empty(); }
  // The first and the second choice, in which few sizes are the same, so that numbers of elements tell which sizes a matrix has.
  LaunchRuns::Sizes Choice(std::size_t number) const;
  // The least multiple of a size's unit that is not less than a number.
  std::int64_t AtLeast(const std::string& name, std::int64_t number) const;

 private:
  std::int64_t UnitOf(const std::string& name) const;

  std::vector<std::string> names_;
  Units units_;
};

inline constexpr std::size_t kMostLaunchSizes = 6;
// Of tiles in shared memory: more keys of a tile are not usual, and take too long.
inline constexpr std::int64_t kLargestUnit = 128;

// The units that the launch lines of a source suggest, `n / 16` and `ceil_div(n, 16)`: the likely ones first.
std::vector<TrialSizes::Units> UnitsInLaunches(const MutationContext& context, const std::vector<std::string>& names,
                                               std::int64_t largest = kLargestUnit);
// Sizes of which vectors of so many elements are made: each, and all.
std::vector<TrialSizes::Units> UnitsOfVectors(const std::vector<std::string>& names, std::int64_t each);
// The same for the numbers by which the code divides what is computed of sizes alone: `n / 8`, `n >> 3`. The largest first.
std::vector<TrialSizes::Units> UnitsOfDivisors(const SyntaxTree& tree, const std::vector<std::string>& names);
// Of one size each, the extents of blocks and these numbers of the code.
std::vector<TrialSizes::Units> UnitsOfOne(const MutationContext& context, const std::vector<std::string>& names,
                                          const std::set<std::string>& constants);

}  // namespace evo
