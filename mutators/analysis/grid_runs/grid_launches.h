#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mutators/analysis/grid_runs/grid_block.h"
#include "mutators/analysis/grid_runs/grid_constants.h"
#include "mutators/analysis/grid_runs/grid_memory.h"
#include "mutators/analysis/numbers/refusal.h"
#include "mutators/mutator.h"

namespace evo {

// What the launches of a source did.
struct GridTrace {
  std::string refusal;              // why it is not understood; then nothing else counts
  std::string unknown;              // the first computation whose result is not known
  std::vector<GridMemory> buffers;  // as they are in the end
  bool has_tickets = false;         // whether the result of an atomic may depend on the order of blocks
  std::set<std::string> names;      // macros and constants whose values were used
};

// Runs the launches of a source once, in their order, in one setting.
class GridLaunches {
 public:
  // The arguments outlive the object.
  GridLaunches(const MutationContext& context, const ExpressionKinds& kinds, const GridSetting& setting);
  GridTrace Run();

 private:
  // Of a buffer that is an argument; -1 where that is not known.
  std::int64_t ArgumentElements() const { return setting_.open ? -1 : setting_.elements; }
  // Counters and flags that a source has outside of its kernels.
  struct DeviceVariable {
    int memory = -1;
    std::int64_t initial = 0;
  };
  void AddDeviceVariables();
  // Runs the steps from one to another; loops as often as they say.
  void RunSteps(std::size_t begin, std::size_t end);
  void RunLoop(const RepeatDirective& loop, std::size_t begin, std::size_t end);
  // What a buffer was called before loops exchanged names.
  std::string FirstNameOf(const std::string& name) const {
    const auto found = exchanged_.find(name);
    return found == exchanged_.end() ? name : found->second;
  }
  void Launch(const LaunchDirective& launch);
  std::optional<GridPosition> PositionOf(const LaunchDirective& launch);
  int KernelOf(const LaunchDirective& launch);
  GridArguments ArgumentsOf(const LaunchDirective& launch, int kernel);

  const MutationContext& context_;
  const SyntaxTree& tree_;
  const GridSetting& setting_;
  Refusal refusal_;
  GridConstants constants_;
  GridMemories memories_;
  std::vector<DeviceVariable> variables_;
  std::map<std::string, std::string> exchanged_;
  std::int64_t launched_ = 0;
  GridBlock block_;
};

}  // namespace evo
