#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mutators/analysis/block_runs/block_numbers.h"
#include "mutators/mutator.h"

namespace evo {

// What tells the threads of a block apart in a kernel, and where they work together.
class ThreadRoles {
 public:
  // The arguments outlive the object.
  ThreadRoles(const MutationContext& context, int kernel, const LaunchDirective& launch)
      : context_(context), tree_(context.tree), kernel_(kernel), launch_(launch) {}

  // Groups of threads that have a row each, a block or a warp, for all values of the parameters that the kernel names; empty if
  // these are not known, or too many.
  std::vector<RowGroup> Groups(bool of_warps) const;
  // A variable of which each thread has its own value, or that depends on how many threads there are; it never changes.
  void AddIndex(int variable) { indices_.insert(tree_.node(variable).name); }
  // A variable that points into shared memory.
  void AddPointer(int variable) { pointers_.insert(variable); }
  bool IsPointer(int variable) const { return pointers_.contains(variable); }

  // Whether code differs between the threads of a block, or depends on how many there are.
  bool IsOfThread(int node) const;
  // Whether the threads of a block share the turns of a loop, by its header.
  bool IsSharedLoop(int node) const;
  bool HasSharedLoop(int node) const;
  // Whether a node names shared memory; whether that is a variable, or an element with a number as its index; and the node of it.
  bool IsSharedUse(int node) const;
  bool IsCell(int use) const;
  int CellNode(int use) const;
  // Whether the threads work together in a statement: more than by what one of them leaves in shared memory.
  bool WorkTogether(int statement) const;
  bool IsBarrier(int statement) const;
  // Whether a statement does anything but compute local variables and shared memory.
  bool HasEffects(int statement) const;

 private:
  bool NamesThread(int node) const;
  bool NamesAny(std::string_view text, const std::set<std::string>& names) const;
  bool IsLocalTarget(int target) const;

  const MutationContext& context_;
  const SyntaxTree& tree_;
  int kernel_;
  const LaunchDirective& launch_;
  std::set<std::string> indices_;
  std::set<int> pointers_;
};

}  // namespace evo
