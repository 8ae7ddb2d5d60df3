#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "mutators/analysis/numbers/lane_mask.h"
#include "mutators/analysis/numbers/refusal.h"
#include "syntax/syntax_tree.h"

namespace evo {

// What statements do to the values of a block's threads.
class LaneStatements {
 public:
  LaneStatements() = default;
  LaneStatements(const LaneStatements&) = delete;  // others refer to it
  LaneStatements& operator=(const LaneStatements&) = delete;
  virtual ~LaneStatements() = default;
  // Called before each statement that some lane runs. False if the statement is done thereby, or refused.
  virtual bool Enter(int statement, const LaneMask& mask) = 0;
  virtual void Declare(int variable, const LaneMask& mask) = 0;
  virtual void Compute(int expression, const LaneMask& mask) = 0;
  // The lanes of a mask for which a condition is true.
  virtual LaneMask Where(int condition, const LaneMask& mask) = 0;
  // Before and after the condition of a loop that has no body, and so does nothing but wait.
  virtual void Wait(bool begins) { static_cast<void>(begins); }
};

// Takes all threads of a block through the statements of a kernel together: which of them take the branches of an `if`, are in a
// loop still, or have left it by `break`, `continue` or `return`.
class LaneFlow {
 public:
  // The arguments outlive the object. More than so many statements and turns of loops are refused.
  LaneFlow(const SyntaxTree& tree, LaneStatements& statements, Refusal& refusal,
           std::int64_t most_steps = std::numeric_limits<std::int64_t>::max());

  void RunKernel(int body, std::size_t lanes);
  // A function that these lanes call. Those that return go on afterwards.
  void RunFunction(int body, const LaneMask& mask);
  // How many functions have been called and have not returned.
  int depth() const { return depth_; }

  // Whether a mask has all lanes that have not returned from the kernel.
  bool IsWholeBlock(const LaneMask& mask) const;
  // The same of the lanes of one warp.
  bool IsWholeWarp(const LaneMask& mask, std::size_t warp) const;

 private:
  LaneMask Active(const LaneMask& mask) const { return Without(mask, off_); }
  void Execute(int statement, const LaneMask& mask);
  void ExecuteIf(int statement, const LaneMask& mask);
  bool HasNoBody(int body) const;
  void ExecuteLoop(int statement, const LaneMask& mask);
  void Jump(int statement, const LaneMask& mask);
  void CountStep();

  const SyntaxTree& tree_;
  LaneStatements& statements_;
  Refusal& refusal_;
  std::int64_t most_steps_;
  std::int64_t steps_ = 0;
  int depth_ = 0;
  LaneMask off_;                            // lanes that wait for the end of a loop or of a function, or have returned
  LaneMask broken_, continued_, returned_;  // those in the present loop, and those that have returned from the kernel
};

}  // namespace evo
