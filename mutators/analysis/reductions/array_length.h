#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mutators/analysis/grid_runs/launch_runs.h"

namespace evo {

// How many elements an array has: a product of sizes, perhaps times the elements of a vector.
struct ArrayLength {
  std::vector<std::string> names;
  std::int64_t times = 1;

  std::int64_t With(const LaunchRuns::Sizes& sizes) const;
  // As launch lines may say it.
  std::string Text() const;
};

// The first that is so long with these sizes; nullopt if none is.
std::optional<ArrayLength> ArrayLengthFor(const LaunchRuns::Sizes& sizes, std::int64_t length);

}  // namespace evo
