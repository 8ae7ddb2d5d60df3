#pragma once

#include <map>
#include <set>

#include "mutators/mutator.h"

namespace evo {

// What the value of an expression in a kernel is computed from. Variables that are written only by their initialiser are followed
// into it.
struct Origins {
  std::set<int> declarations;  // everything that the value goes back to
  unsigned threads = 0;        // bit 0 if it depends on threadIdx.x, bit 1 for .y, bit 2 for .z
  unsigned blocks = 0;         // the same for blockIdx
  bool known = true;           // it depends on nothing else, so it can be computed anywhere in the kernel
};

// Tells what the threads of a block have in common. A value is uniform if its origins are known and contain no threadIdx.
class BlockUniform {
 public:
  // The context and its tree must outlive the object.
  BlockUniform(const MutationContext& context, int kernel);

  Origins Of(int expression) const;
  bool IsUniform(int expression) const;
  // Whether all threads of a block execute a statement of the kernel equally often. `ignored` is an early return that is left out
  // of account; -1 for none.
  bool IsReachedByAll(int statement, int ignored = -1) const;
  // Whether a pointer points to global memory that this kernel does not write. The pointer need not be declared const.
  bool IsUnwritten(int pointer) const;

 private:
  void Add(int expression, Origins& origins) const;
  void AddDeclaration(int declaration, Origins& origins) const;

  const MutationContext& context_;
  const SyntaxTree& tree_;
  int kernel_;
  std::set<int> written_;
  std::set<int> stored_;  // parameters that the kernel stores through
  bool traffic_known_ = false;
};

}  // namespace evo
