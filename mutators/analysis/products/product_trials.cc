#include "mutators/analysis/products/product_trials.h"

#include <algorithm>
#include <array>
#include <utility>

#include "mutators/analysis/grid_runs/trial_sizes.h"

namespace evo {
namespace {

constexpr std::size_t kMostProductNames = 8;
using ProductSizesByPlace = std::array<std::int64_t, kMostProductNames>;
constexpr std::array<ProductSizesByPlace, 2> kUneven{{{19, 13, 23, 7, 11, 17, 5, 9}, {11, 22, 14, 5, 18, 9, 7, 3}}};
// Of units of the launch line, and of the others, which are often those of a loop.
constexpr std::array<ProductSizesByPlace, 2> kProductTiles{{{1, 2, 3, 4, 5, 6, 7, 8}, {2, 1, 2, 3, 1, 2, 1, 2}}};
constexpr std::array<std::int64_t, 2> kBlocksAlong{2, 3};
constexpr std::array<std::int64_t, 5> kProductUnits{4, 8, 16, 32, 64};
constexpr std::int64_t kLeastProductSize = 3, kMoreThanUnit = 3;

}  // namespace

ProductTrials::ProductTrials(const MutationContext& context, std::vector<std::string> names, Units units)
    : names_(std::move(names)), units_(std::move(units)) {
  for (const Step& step : context.rendered.steps) {
    if (!step.launch) continue;
    for (const Expression& dimension : step.launch->grid) {
      if (std::find(names_.begin(), names_.end(), dimension.text()) != names_.end() &&
          (step.launch->grid.size() == 3 || step.launch->grid.size() == 1))
        of_grid_.push_back(dimension.text());
    }
  }
}

std::int64_t ProductTrials::UnitOf(const std::string& name) const {
  const auto unit = units_.find(name);
  return unit == units_.end() ? 1 : unit->second;
}

LaunchRuns::Sizes ProductTrials::Choice(std::size_t number) const {
  LaunchRuns::Sizes sizes;
  std::size_t tiles = 0;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const std::int64_t unit = UnitOf(names_[i]);
    if (std::find(of_grid_.begin(), of_grid_.end(), names_[i]) != of_grid_.end())
      sizes[names_[i]] = kBlocksAlong[number];
    else
      sizes[names_[i]] =
          unit == 1 ? kUneven[number][i % kMostProductNames] : unit * kProductTiles[number][tiles++ % kMostProductNames];
  }
  return sizes;
}

LaunchRuns::Sizes ProductTrials::Small() const {
  LaunchRuns::Sizes sizes;
  for (const std::string& name : names_) {
    const bool blocks = std::find(of_grid_.begin(), of_grid_.end(), name) != of_grid_.end();
    sizes[name] = blocks ? 1 : UnitOf(name) == 1 ? kLeastProductSize : UnitOf(name);
  }
  return sizes;
}

LaunchRuns::Sizes ProductTrials::Large(const std::string& name, std::int64_t number) const {
  LaunchRuns::Sizes sizes = Small();
  const std::int64_t unit = UnitOf(name);
  sizes[name] = (number + unit - 1) / unit * unit;
  return sizes;
}

LaunchRuns::Sizes ProductTrials::Uneven(const std::string& name) const {
  LaunchRuns::Sizes sizes = Small();
  sizes[name] += kMoreThanUnit;
  return sizes;
}

std::vector<ProductTrials::Units> UnitsOfProducts(const MutationContext& context, const LaunchRuns& runs) {
  const ProductTrials::Units launched = UnitsInLaunches(context, runs.names()).back();
  std::vector<ProductTrials::Units> all{{}};
  if (!launched.empty()) all.push_back(launched);
  for (const std::int64_t unit : kProductUnits) {
    ProductTrials::Units units = launched;
    for (const std::string& name : runs.names()) units.try_emplace(name, unit);
    if (units != launched) all.push_back(std::move(units));
  }
  return all;
}

}  // namespace evo
