#pragma once

#include <map>
#include <set>

#include "mutators/mutator.h"

namespace evo {

// What an expression of a kernel is made of, through the initialisers of variables that are written only there.
struct Origins {
  std::set<int> declarations;  // all that it goes back to, itself included
  unsigned threads = 0;        // bit 0 for threadIdx.x, 1 for .y, 2 for .z
  unsigned blocks = 0;         // the same for blockIdx
  bool known = true;           // it is made of nothing else but literals, and may be evaluated anywhere in the kernel
};

// Questions about what the threads of a block have in common. A value is uniform if it is known and made of no threadIdx.
class BlockUniform {
 public:
  // Outlives neither the context nor what it is made of.
  BlockUniform(const MutationContext& context, int kernel);

  Origins Of(int expression) const;
  bool IsUniform(int expression) const;
  // Whether all threads of a block come to a statement of the kernel equally often, if `ignored` (an early return) is not there.
  bool IsReachedByAll(int statement, int ignored = -1) const;
  // Whether a pointer leads to global memory that this kernel does not write, whether it says `const` or not.
  bool IsUnwritten(int pointer) const;

 private:
  void Add(int expression, Origins& origins) const;
  void AddDeclaration(int declaration, Origins& origins) const;

  const MutationContext& context_;
  const SyntaxTree& tree_;
  int kernel_;
  std::set<int> written_;
  std::set<int> stored_;  // parameters that are stored through
  bool traffic_known_ = false;
};

}  // namespace evo
