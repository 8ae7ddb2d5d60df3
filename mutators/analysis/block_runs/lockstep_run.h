#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "mutators/analysis/block_runs/lane_flow.h"
#include "mutators/analysis/block_runs/lockstep_integers.h"
#include "mutators/analysis/block_runs/partial_results.h"
#include "mutators/analysis/block_runs/reduction_elements.h"
#include "mutators/analysis/block_runs/stored_parts.h"

namespace evo {

// What one block did.
struct BlockRun {
  // A part of what a statement stores, of all threads together that store.
  struct Part {
    Partial value;
    Partial first;     // of the first thread that stores
    bool same = true;  // whether the others store the same elements
    std::set<std::string> combines, initials, types;
  };
  struct Output {
    int stores = 0;                  // how many threads stored
    std::optional<std::int64_t> at;  // the index of the last store; nullopt: none, or not known
  };
  std::string refusal;                        // why it is not understood; then nothing else counts
  std::map<int, Output> outputs;              // the statements that stored to global memory
  std::map<std::pair<int, int>, Part> parts;  // by the statement and the part of what it stores that has elements
  std::set<int> declarations;                 // DeclStmts of numbers that are computed of such parts and stored, or needed for it
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
  bool AddsUnlessZero(int statement, const LaneMask& mask);
  bool IsNotZero(int condition, int value, const Partials& values, const LaneMask& mask);
  void WarpBarrier(const LaneMask& mask);
  void Count(int node, const LaneMask& mask);
  void Atomic(int call, const LaneMask& mask);
  void Store(int statement, int target, int value, std::string_view combine, const LaneMask& mask);
  void NotUnderstood(int node);

  const SyntaxTree& tree_;
  int kernel_;
  const ReductionElements& elements_;
  std::size_t lanes_;
  BlockRun run_;
  Refusal refusal_;
  LockstepIntegers integers_;
  LaneFlow flow_;
  PartialResults data_;
  StoredParts stored_;
};

}  // namespace evo
