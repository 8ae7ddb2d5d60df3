#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mutators/analysis/block_runs/lane_flow.h"
#include "mutators/analysis/grid_runs/grid_expressions.h"

namespace evo {

// Runs the blocks of a launch, one after another: what their statements do, and what they call.
class GridBlock : private LaneStatements, private GridCalls {
 public:
  // The arguments outlive the object. Extents of arrays are only known if the parameters have the values of the text.
  GridBlock(const SyntaxTree& tree, const ExpressionKinds& kinds, bool extents_known, GridConstants& constants,
            GridMemories& memories, Refusal& refusal);

  // `dynamic_bytes`: of shared memory.
  void Run(int kernel, const GridPosition& position, std::int64_t dynamic_bytes, const GridArguments& arguments);
  void AddDeviceVariable(int variable, int memory) { variables_.AddDeviceVariable(variable, memory); }
  // The first computation whose result is not known; else empty.
  const std::string& unknown() const { return expressions_.unknown(); }

 private:
  bool Enter(int statement, const LaneMask& mask) override;
  void Declare(int variable, const LaneMask& mask) override;
  void Compute(int expression, const LaneMask& mask) override { expressions_.Evaluate(expression, mask); }
  LaneMask Where(int condition, const LaneMask& mask) override { return expressions_.Where(condition, mask); }
  void Wait(bool begins) override { expressions_.SetWaiting(begins); }
  LaneValues Call(int expression, const LaneMask& mask) override;

  LaneValues CallDefined(int function, const std::vector<int>& arguments, const LaneMask& mask);
  bool Pass(const std::vector<int>& parameters, const std::vector<int>& arguments, const LaneMask& mask);
  LaneValues CallKnown(int expression, std::string_view callee, const std::vector<int>& arguments, const LaneMask& mask);
  LaneValues Shuffle(std::string_view callee, const std::vector<int>& arguments, const LaneMask& mask);
  LaneValues Atomic(std::string_view callee, const std::vector<int>& arguments, const LaneMask& mask);
  void Barrier(const LaneMask& mask);
  void WarpBarrier(const LaneMask& mask);

  const SyntaxTree& tree_;
  GridMemories& memories_;
  Refusal& refusal_;
  GridVariables variables_;
  GridExpressions expressions_;
  LaneFlow flow_;
  LaneValues returned_;  // by the function that runs
};

}  // namespace evo
