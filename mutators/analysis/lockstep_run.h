#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "mutators/analysis/lane_flow.h"
#include "mutators/analysis/lockstep_integers.h"
#include "mutators/analysis/partial_results.h"
#include "mutators/analysis/reduction_elements.h"

namespace evo {

// What one block did.
struct BlockRun {
  std::string refusal;             // why it is not understood; then nothing else counts
  Partial result;                  // of all stores to global memory together
  int stores = 0;                  // how many threads stored
  std::set<int> outputs;           // the statements that stored
  int data = -1;                   // the part of the stored value that has the elements
  std::optional<std::int64_t> at;  // the index that was stored to, of the last store; nullopt: none, or not known
  std::set<std::string> initials;  // constants with which partial results begin, as spelled
  std::set<std::string> combines;  // "+", "max", "min", "*", "^", "&", "|"
};

// Runs one block of a reduction on numbers instead of data: all its threads go through the statements together, indices and
// conditions are computed (LockstepIntegers), and of the data is known which elements are in them (PartialResults). A race in
// shared memory, a barrier that not all threads reach, and whatever is not understood are refusals.
class LockstepRun : private LaneStatements {
 public:
  // The arguments outlive the object.
  LockstepRun(const SyntaxTree& tree, int kernel, const ReductionElements& elements, const RunSetting& setting);
  BlockRun Run();

 private:
  bool Enter(int statement, const LaneMask& mask) override;
  void Declare(int variable, const LaneMask& mask) override;
  void Compute(int expression, const LaneMask& mask) override;
  LaneMask Where(int condition, const LaneMask& mask) override { return integers_.Where(condition, mask); }

  bool TakesExtreme(int statement, const LaneMask& mask);
  bool HasJump(int loop);
  void Assign(int node, const LaneMask& mask);
  int StoredValue(int node, const LaneMask& mask);
  void AssignVariable(int node, int variable, int value, const LaneMask& mask);
  void WarpBarrier(const LaneMask& mask);
  void Count(int node, const LaneMask& mask);
  void Atomic(int call, const LaneMask& mask);
  int DataOf(int value) const;
  void Store(int statement, int target, int value, const LaneMask& mask);
  void NotUnderstood(int node);

  const SyntaxTree& tree_;
  int kernel_;
  const ReductionElements& elements_;
  std::size_t lanes_;
  BlockRun run_;
  Refusal refusal_;
  LockstepIntegers integers_;
  PartialResults data_;
  LaneFlow flow_;
};

}  // namespace evo
