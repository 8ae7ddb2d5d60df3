#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// A loop `for (int n = 0; n < bound; ++n)` that all threads go through, around or within the one that they share.
struct OuterLoop {
  int statement = -1;
  int counter = -1;          // declaration
  std::string bound;         // a parameter of the kernel or a macro of evo:size
  int bound_parameter = -1;  // declaration; -1 for a macro
};

// The loops of a kernel that have this form, and what is computed from their counters.
class OuterLoops {
 public:
  OuterLoops() = default;
  // `written` are the variables that the kernel changes.
  OuterLoops(const MutationContext& context, int kernel, const std::set<int>& written);

  const std::vector<OuterLoop>& all() const { return loops_; }
  bool IsCounter(int variable) const;
  // Whether a variable that never changes, an integer or a pointer, is computed from counters without a load.
  bool IsOffset(int variable) const { return offsets_.contains(variable); }
  // Keeps those whose counters are named. False if they are not one within the other then.
  bool Keep(const SyntaxTree& tree, const std::set<int>& named);
  // Whether the counter of a loop, and what is computed from counters, are named in nothing but its header and the nodes for
  // which `is_part` holds.
  bool IsOnlyIn(const SyntaxTree& tree, int kernel, const OuterLoop& loop, const std::function<bool(int)>& is_part) const;

 private:
  std::vector<OuterLoop> loops_;  // the outermost first
  std::set<int> offsets_;
};

}  // namespace evo
