#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mutators/analysis/block_runs/reduction_elements.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/mutator.h"

namespace evo {

// A kernel that combines the elements 0 to bound - 1 of what it loads into one value, or into several: by a tree in shared memory
// in each block, by one thread that goes through shared memory, or by atomics of all threads. Which elements a block takes, and
// that it takes each once, is found by running the kernel on numbers (lockstep_run.h), for every block that the launch line may
// have.
struct Reduction {
  // An expression that computes a value of one element. With a factor the value is their product, in a call such as
  // `fmaf(node, factor, sum)`.
  struct Value {
    int node = -1;
    int factor = -1;
  };
  // What all values of all elements are combined into.
  struct Result {
    std::vector<Value> values;
    std::string combine;  // "+", "max", "min", "*", "^", "&" or "|"
    std::string type;     // of partial results
    std::string initial;  // with which a partial result may begin, any number of times
  };
  // A statement that leaves results of a block.
  struct Output {
    int statement = -1;      // an assignment, or an atomic's call
    bool atomic = false;     // it is an atomic of the result's combination, of one address
    bool own_place = false;  // it stores to element blockIdx.x of a buffer
    int target = -1;         // kernel's parameter that is stored through
  };
  // An expression in an output, or in a declaration that it needs, that is a result.
  struct Place {
    int node = -1;
    std::size_t result = 0;
  };
  // Which of n elements a kernel takes that takes some at once: `bound` is `n / 4 * 4`, or `n / 4` of vectors.
  struct Grain {
    std::int64_t divided = 1, times = 1;
    std::int64_t In(std::int64_t n) const { return n / divided * times; }
  };
  enum class Blocks {
    kShareAll,   // all blocks together take every element once
    kOwnTurns,   // the same, and block b takes `part` elements from (b + k * blocks) * part on, for k = 0, 1, ..
    kOwnPart,    // block b takes `part` elements from b * part on, as far as there are any
    kAllOfThem,  // each block takes every element
  };
  int kernel = -1;
  const LaunchDirective* launch = nullptr;  // the first
  bool launched_again = false;              // by other lines, with blocks of the same size
  std::string most_threads;                 // of a block, by __launch_bounds__; empty for any number
  Blocks blocks = Blocks::kShareAll;
  std::string part;  // of kOwnPart and kOwnTurns, as an expression of the source
  std::string turn;  // of kShareAll: the part with which it is kOwnTurns, too; empty if it is not
  std::vector<Result> results;
  std::vector<int> of_element;   // DeclStmts that the values of an element need
  std::vector<int> of_turn;      // those that are the same for all elements of a turn of the loops
  std::vector<OuterLoop> loops;  // in each of whose turns there are all elements, the outermost first
  int number = -1;               // what stands for the element's number in it: the declaration of `i`, or an index expression
  bool by_name = false;          // whether `number` is a declaration
  std::string bound;             // `n`, a parameter of the kernel or a macro of evo:size; empty if each part is whole
  int bound_parameter = -1;      // declaration; -1 for a macro
  Grain grain;
  std::vector<Output> outputs;
  std::vector<int> last;      // the outputs, and DeclStmts before them that are computed of results, in order
  std::vector<Place> places;  // of results in them
  std::vector<int> uniform;   // DeclStmts that the above need, the same for all threads of a block
  Parameters parameters;      // the only values for which this was shown

  // All expressions and statements that compute an element.
  std::vector<int> ElementNodes() const;
};

// The kernel as such a reduction. Else why it is none, or none that is understood.
std::variant<Reduction, std::string> AsReduction(const MutationContext& context, int kernel);

// Replaces what stands for the element's number within a node.
Replacements NumberAs(const SyntaxTree& tree, const Reduction& reduction, int node, const std::string& text);
// What the launch line passes for a kernel's parameter; nullopt for a struct and for a declaration that is no parameter.
std::optional<std::string> LaunchedAs(const SyntaxTree& tree, const LaunchDirective& launch, int kernel, int parameter);

// Whether an output stores one result, or a sum times a factor, so that several of them may each store a part of it.
bool IsLinear(const SyntaxTree& tree, const Reduction& reduction, const Reduction::Output& output);

// Whether a part of the elements may be taken by another block: what the element and the result are computed from does not depend
// on the block, and the results are all combined by the same atomic, or by the launch that follows. Else why not.
struct Redistribution {
  std::string refusal;                // empty if it is possible
  bool same_number = false;           // if not: as many blocks as there are may share them anew all the same
  std::optional<Reduction> consumer;  // the launch that combines the results; none for an atomic
  std::size_t count_argument = 0;     // the place of their number among the arguments of its launch
};
Redistribution RedistributionOf(const MutationContext& context, const Reduction& reduction);

}  // namespace evo
