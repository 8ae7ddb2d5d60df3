#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// One element that a thread copies from global to shared memory through a register.
struct SharedCopy {
  std::vector<Proposal::Change> changes;  // make the copy asynchronous
  int first = -1;                         // first statement of the copy
  int last = -1;                          // last statement of the copy: the store to shared memory
  int function = -1;                      // the function that both are in
};

// Finds the copies from global to shared memory that the hardware can do asynchronously (cp.async), and answers the questions
// about pointers that this needs. The context must outlive the object.
class SharedCopies {
 public:
  explicit SharedCopies(const MutationContext& context) : context_(context), tree_(context.tree) {}

  std::vector<SharedCopy> All() const;
  // Whether a pointer expression can only point into shared memory. `depth` bounds the declarations that are followed.
  bool IsSharedPointer(int pointer, int depth = 6) const;
  // The pointer of an array element or of `*p`; -1 for other nodes.
  int PointerOf(int place) const;
  // Whether a pointer expression points into global memory that its kernel does not write.
  bool IsUnwrittenGlobal(int pointer) const;

 private:
  bool IsSharedParameter(int parameter, int depth) const;
  bool IsLoad(int value, const std::string& type) const;
  std::optional<SharedCopy> AsCopy(int store) const;
  std::optional<SharedCopy> AsCopyByVariable(SharedCopy copy, int target, int value, const std::string& type) const;
  std::string Asynchronous(int target, int source, const std::string& type) const;
  std::string Either(std::string_view condition, const std::string& yes, const std::string& no, int at) const;

  const MutationContext& context_;
  const SyntaxTree& tree_;
};

}  // namespace evo
