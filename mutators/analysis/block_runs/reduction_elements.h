#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mutators/analysis/source/block_uniform.h"
#include "mutators/analysis/source/outer_loops.h"
#include "mutators/mutator.h"

namespace evo {

// What a kernel may reduce: expressions that compute one value of global memory, `x[i]` or `fabsf(x[i] - y[i])`. All of a
// kernel's are functions of one number, the element's. Those that are the same function are of the same kind.
class ReductionElements {
 public:
  // The number of an element is a variable, the same in all of them, or an index, whatever it is called; or a variable in each
  // turn of loops that all threads go through.
  enum class Numbered { kByVariable, kByIndex, kByVariableInLoops };

  // The context outlives the object.
  ReductionElements(const MutationContext& context, int kernel, Numbered numbered);

  // Why the kernel has no such elements; empty if it has.
  const std::string& refusal() const { return refusal_; }
  // An expression whose value is the number of the element; -1 for an expression that is none of them.
  int NumberOf(int element) const;
  // Of an element: which function of the number it is.
  std::size_t KindOf(int element) const { return Find(element)->kind; }
  std::size_t kinds() const { return kinds_.size(); }
  int FirstOf(std::size_t kind) const { return kinds_[kind].first; }
  // In `fmaf(a, b, sum)` the element is the product: `a` stands for it, and this is `b`. -1 for other elements.
  int FactorOf(int element) const;
  // Whether the elements of a kind are conditions, which are 0 or 1.
  bool IsCondition(std::size_t kind) const;
  // Whether a local variable holds what was reduced so far.
  bool IsPartial(int declaration) const { return partials_.contains(declaration); }
  // Whether a variable changes after its declaration.
  bool IsWritten(int declaration) const { return written_.contains(declaration); }
  // A sum `x[i] + x[i + n]` of two elements, each of which counts by itself.
  bool IsSumOfTwo(int expression) const;

  // The variable that is the element's number; -1 if it has no name and NumberOf() of the first is an index.
  int variable() const { return variable_; }
  // DeclStmts of variables that are computed from one element and that an expression needs, in order.
  std::vector<int> DeclarationsFor(int element) const;
  // The loops that all threads go through, the outermost first. Each element has a number in each of their turns.
  const std::vector<OuterLoop>& loops() const { return loops_.all(); }
  const BlockUniform& uniform() const { return uniform_; }

 private:
  struct Element {
    int node = -1;
    int factor = -1;
    int number = -1;
    std::size_t kind = 0;
  };
  struct Kind {
    int first = -1;      // the node of its first element
    std::string normal;  // the function, as spelled
  };
  // What differs between the threads of a block in an element.
  struct Varying {
    std::set<int> variables;   // integers
    std::vector<int> indices;  // of subscripts
    bool elsewhere = false;    // something that is neither
  };

  void SetKind(Element& element, const std::string& normal);
  const Element* Find(int node) const;
  void FindVariables();
  void Collect(int node);
  bool IsGuarded(int expression) const;
  bool IsElement(int expression) const;
  bool Varies(int expression) const;
  bool CollectProduct(int call);
  bool KeepNamedLoops();
  bool HasParts(int variable) const { return parts_.contains(variable) || loops_.IsOffset(variable); }
  void AddNumbered(int element, std::set<int>& variables, int& use, bool& elsewhere) const;
  void AddVarying(int node, Varying& varying, bool in_index) const;
  std::string Normal(int element, const std::string& index) const;
  bool NumberByVariable();
  bool NumberByIndex();

  const SyntaxTree& tree_;
  int kernel_;
  BlockUniform uniform_;
  std::set<int> written_;
  std::set<int> partials_;
  std::set<int> parts_;            // variables that are computed from one element and never change
  std::vector<Element> elements_;  // in source order
  std::vector<Kind> kinds_;
  OuterLoops loops_;
  int variable_ = -1;
  std::string refusal_;
};

// How a refusal ends that says that elements have no number.
inline constexpr std::string_view kNoNumber = "that every thread has its own of";

// Whether a function tells all threads of a block or a warp for how many, or which, of them a condition is true.
bool IsVote(std::string_view callee);
// Whether an expression is or contains an element of shared memory, or names a variable there.
bool NamesShared(const SyntaxTree& tree, int expression);

}  // namespace evo
