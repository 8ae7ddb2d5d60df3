#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "mutators/analysis/grid_runs/launch_runs.h"
#include "mutators/mutator.h"

namespace evo {

// Sizes with which a kernel is tried that may take multiples of a unit only.
class ProductTrials {
 public:
  using Units = std::map<std::string, std::int64_t>;
  ProductTrials(const MutationContext& context, std::vector<std::string> names, Units units);

  const std::vector<std::string>& names() const { return names_; }
  std::int64_t UnitOf(const std::string& name) const;
  // The first and the second choice, in which few sizes are the same.
  LaunchRuns::Sizes Choice(std::size_t number) const;
  // Each as small as it may be; one of them at least so large, or no multiple of its unit.
  LaunchRuns::Sizes Small() const;
  LaunchRuns::Sizes Large(const std::string& name, std::int64_t number) const;
  LaunchRuns::Sizes Uneven(const std::string& name) const;

 private:
  std::vector<std::string> names_;
  Units units_;
  std::vector<std::string> of_grid_;  // numbers of blocks, of which there are few
};

// Units to be tried, the likely ones first: none, those of the launch line, and these with others for the other sizes.
std::vector<ProductTrials::Units> UnitsOfProducts(const MutationContext& context, const LaunchRuns& runs);

}  // namespace evo
