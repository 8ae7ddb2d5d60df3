#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mutators/analysis/block_uniform.h"
#include "mutators/mutator.h"

namespace evo {

// What a kernel may reduce: expressions that compute one value of global memory, `x[i]` or `fabsf(x[i] - y[i])`. All of a
// kernel's are the same function of one number, the element's.
class ReductionElements {
 public:
  // The number of an element is a variable, the same in all of them, or an index, whatever it is called.
  enum class Numbered { kByVariable, kByIndex };

  // The context outlives the object.
  ReductionElements(const MutationContext& context, int kernel, Numbered numbered);

  // Why the kernel has no such elements; empty if it has.
  const std::string& refusal() const { return refusal_; }
  // The expressions, in source order.
  const std::vector<int>& all() const { return elements_; }
  // An expression whose value is the number of the element; -1 for an expression that is none of them.
  int NumberOf(int element) const;
  // Whether a local variable holds what was reduced so far.
  bool IsPartial(int declaration) const { return partials_.contains(declaration); }
  // A sum `x[i] + x[i + n]` of two elements, each of which counts by itself.
  bool IsSumOfTwo(int expression) const;

  // The variable that is the element's number; -1 if it has no name and NumberOf() of the first is an index.
  int variable() const { return variable_; }
  // DeclStmts of variables that are computed from one element and that an expression needs, in order.
  std::vector<int> DeclarationsFor(int element) const;
  const BlockUniform& uniform() const { return uniform_; }

 private:
  // What differs between the threads of a block in an element.
  struct Varying {
    std::set<int> variables;   // integers
    std::vector<int> indices;  // of subscripts
    bool elsewhere = false;    // something that is neither
  };

  void FindVariables();
  void Collect(int node);
  bool IsGuarded(int expression) const;
  bool IsElement(int expression) const;
  bool IsOfOneElement(int variable) const { return parts_.contains(variable); }
  bool Varies(int expression) const;
  bool LoadsGlobal(int expression) const;
  void AddVarying(int node, Varying& varying, bool in_index) const;
  std::string Normal(int element, const std::string& index) const;
  bool NumberByVariable();
  bool NumberByIndex();

  const SyntaxTree& tree_;
  int kernel_;
  BlockUniform uniform_;
  std::set<int> written_;
  std::set<int> partials_;
  std::set<int> parts_;  // variables that are computed from one element and never change
  std::vector<int> elements_;
  std::vector<int> numbers_;  // of elements_
  int variable_ = -1;
  std::string refusal_;
};

// How a refusal ends that says that elements have no number.
inline constexpr std::string_view kNoNumber = "that every thread has its own of";

// Whether an expression is or contains an element of shared memory, or names a variable there.
bool NamesShared(const SyntaxTree& tree, int expression);

}  // namespace evo
