#pragma once

#include <optional>
#include <set>

#include "mutators/analysis/grid_runs/launch_numbers.h"
#include "mutators/analysis/stencils/stencil.h"
#include "mutators/analysis/stencils/stencil_launch.h"

namespace evo {

// Whether the threads of a launch read all elements of the table where it says so, and none elsewhere.
bool ReadAsTable(const StencilLaunch& launch, const Stencil::Table& table);

// Finds buffers of a few weights, which all elements of a box read.
class StencilTables {
 public:
  // The arguments must outlive the object. `stored`: the buffers to which threads store. Of the launches, all is set.
  StencilTables(const SyntaxTree& tree, const LaunchNumbers& numbers, const std::set<int>& stored,
                const StencilLaunches& launches)
      : tree_(tree), numbers_(numbers), stored_(stored), launches_(launches) {}

  // Adds those that are neither stored to nor among `buffers`.
  void AddTo(Stencil& found) const;

 private:
  std::optional<Stencil::Table> TableOf(int buffer, int kernel) const;
  bool AreElementsOf(const Stencil::Table& table, int kernel) const;

  const SyntaxTree& tree_;
  const LaunchNumbers& numbers_;
  const std::set<int>& stored_;
  const StencilLaunches& launches_;
};

}  // namespace evo
