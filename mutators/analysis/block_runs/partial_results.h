#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "mutators/analysis/block_runs/lane_flow.h"
#include "mutators/analysis/block_runs/lockstep_integers.h"
#include "mutators/analysis/block_runs/partial_structs.h"
#include "mutators/analysis/block_runs/reduction_elements.h"
#include "mutators/analysis/numbers/shared_partials.h"

namespace evo {

// What the threads of a block know of data: which elements are in each of their partial results, in local variables and in shared
// memory. An expression that is neither an element nor combines partial results is refused.
class PartialResults {
 public:
  // What partial results were combined by, begin with and were held by, as bits of a Partial.
  struct Texts {
    NumberedTexts combines, initials, types;
  };

  // The arguments outlive the object.
  PartialResults(const SyntaxTree& tree, const ReductionElements& elements, LockstepIntegers& integers, const LaneFlow& flow,
                 std::size_t lanes, Refusal& refusal);

  // Of a struct, one member.
  Partials Evaluate(int expression, const LaneMask& mask, const std::string& member = {});
  // Combined by "max", "min" or an operator.
  Partials Combined(std::string_view combine, const Partials& a, const Partials& b, const LaneMask& mask);

  // `value` is -1 for a variable without an initialiser.
  void Declare(int variable, int value, const LaneMask& mask);
  void Forget(int variable);
  // `target = value`, or `target += value` for the fold "+". The target is a variable, an element of shared memory, or a member.
  void Assign(int target, std::string_view fold, int value, const LaneMask& mask);
  // The same of a value that is known.
  void Store(int target, const Partials& values, const LaneMask& mask, const std::string& member = {});
  // Adds the values of threads to shared memory by atomics.
  void AddAtomically(int target, std::string_view combine, const Partials& values, const LaneMask& mask);
  // All threads are at a barrier.
  void PassBarrier() { shared_.PassBarrier(); }
  void PassWarpBarrier(std::size_t warp) { shared_.PassWarpBarrier(warp); }

  // The elements of a value have also been combined in this way.
  Partial AlsoCombined(Partial value, std::string_view combine);
  // Whether all of a thread's elements are 0 or 1 and in a sum.
  bool IsCount(const Partial& value);
  const Texts& texts() const { return texts_; }

 private:
  Partials Element(int expression, const LaneMask& mask);
  Partials Initial(int expression, const LaneMask& mask);
  Partials Conditional(int expression, const LaneMask& mask, const std::string& member);
  Partials Guarded(int expression, const LaneMask& mask);
  Partials Shuffled(int call, const LaneMask& mask);
  Partials Voted(int call, std::string_view callee, const LaneMask& mask);
  Partials CountedVotes(int call, const LaneMask& mask);
  Partials OfMember(int expression, const LaneMask& mask, const std::string& member);
  Partials OfVariable(int variable, const LaneMask& mask, const std::string& member);
  Partials Reduced(const Partials& values, std::string_view combine, std::size_t group, const LaneMask& mask);
  // nullopt, and refused, for an expression that is no element of shared memory.
  std::optional<SharedPlace> PlaceOf(int expression, const std::string& member);
  void Hold(const std::string& type, Partials& values);
  bool IsInitial(int expression) const;
  Partials Refuse(const std::string& why);

  const SyntaxTree& tree_;
  const ReductionElements& elements_;
  LockstepIntegers& integers_;
  const LaneFlow& flow_;
  std::size_t lanes_;
  Refusal& refusal_;
  std::map<PartialVariable, Partials> variables_;
  SharedPartials shared_;
  Texts texts_;
};

}  // namespace evo
