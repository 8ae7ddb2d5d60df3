#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mutators/analysis/block_runs/group_memory.h"
#include "mutators/analysis/block_runs/lane_flow.h"
#include "mutators/analysis/thread_runs/thread_numbers.h"
#include "mutators/mutator.h"

namespace evo {

// Threads of a block that work on one row: all of it, or one of its warps.
struct RowGroup {
  Parameters parameters;
  std::int64_t threads = 0;           // of the block
  std::int64_t rows = 1;              // groups of the block
  bool along_y = false;               // whether a group is what has the same threadIdx.y
  std::int64_t block = 0, group = 0;  // that run
  std::size_t lanes() const { return static_cast<std::size_t>(threads / rows); }
};

// Runs the statements with which threads combine what each of them has, on numbers. What it does not know, such as a kernel's
// arguments, has no number; a condition that depends on such, a race in shared memory and a barrier that some threads do not
// reach are refused. Where a condition depends on threads' own numbers, both branches count.
class BlockNumbers : private LaneStatements {
 public:
  // The tree outlives the object.
  BlockNumbers(const SyntaxTree& tree, RowGroup group);

  const RowGroup& group() const { return group_; }
  const std::string& refusal() const { return refusal_.why(); }
  // Runs a statement by the threads that are on.
  void Run(int statement);
  void DeclareVariable(int variable) { Declare(variable, masks_.back()); }
  // The number of a variable or an expression, if it is the same for all threads and is computed from constants.
  std::optional<double> ConstantOf(int node);
  // Leaves on only those for which a condition is true, or not, until Restore(). False if that is not known.
  bool Restrict(int condition, bool inverse);
  void Restore() { masks_.pop_back(); }
  bool AllOn() const;
  bool OnlyFirstOn() const;
  // What an expression is for each thread, if it depends on nothing but the thread and constants.
  std::optional<std::vector<double>> IndicesOf(int expression);

  // Gives each thread a number of its own, or all that are on the same one: `stands_for` if it only stands for it.
  void SetOwn(int variable, std::vector<double> numbers);
  void SetSame(int node, double number, bool stands_for);
  // Gives those that are on what an expression is for each of them.
  void Copy(int node, int expression);
  // Whether all threads that are on have this number in a variable or an element of shared memory, computed from the numbers of
  // all threads if `of_all`. `reads`: they read it now.
  bool Has(int node, double number, bool of_all, bool reads);

 private:
  // The threads for which a condition is true that depends on threads' own numbers, and from whose numbers it was computed.
  struct Selection {
    LaneMask yes;
    std::vector<std::uint64_t> of;
  };

  bool Enter(int statement, const LaneMask& mask) override;
  void Declare(int variable, const LaneMask& mask) override;
  void Compute(int expression, const LaneMask& mask) override;
  LaneMask Where(int condition, const LaneMask& mask) override;

  ThreadNumbers NotUnderstood(int node);
  ThreadNumbers Evaluate(int expression, const LaneMask& mask);
  ThreadNumbers Leaf(int node, const LaneMask& mask);
  ThreadNumbers Binary(int node, std::string_view spelled, const LaneMask& mask);
  ThreadNumbers Choice(int node, const LaneMask& mask);
  ThreadNumbers Called(int call, const LaneMask& mask);
  ThreadNumbers Shuffled(int call, const LaneMask& mask);
  std::optional<GroupPlace> PlaceOf(int node, const LaneMask& mask);
  void Store(int target, ThreadNumbers values, const LaneMask& mask);
  // Statements under a condition that depends on threads' own numbers.
  void Select(int statement, const ThreadNumbers& condition, const LaneMask& mask);
  void Select(int statement, const LaneMask& mask);
  void Atomic(int call, const LaneMask& mask);

  const SyntaxTree& tree_;
  RowGroup group_;
  GroupNumbers make_;
  Refusal refusal_;
  LaneFlow flow_;
  GroupMemory memory_;
  std::vector<LaneMask> masks_;
  std::vector<Selection> selections_;
  std::map<int, ThreadNumbers> variables_;
  std::map<int, GroupPlace> pointers_;
  int depth_ = 0;  // of calls
};

}  // namespace evo
