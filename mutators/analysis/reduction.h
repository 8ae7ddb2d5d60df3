#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mutators/analysis/counted_loop.h"
#include "mutators/mutator.h"

namespace evo {

// A kernel that combines the elements 0 to bound - 1 of what it loads into one value: by a tree in shared memory in each block,
// by one thread that goes through shared memory, or by atomics of all threads. Which elements a block takes, and that it takes
// each once, is found by running the kernel on numbers (lockstep_run.h), for every block that the launch line may have.
struct Reduction {
  enum class Blocks {
    kShareAll,   // all blocks together take every element once
    kOwnPart,    // block b takes `part` elements from b * part on, as far as there are any
    kAllOfThem,  // each block takes every element
  };
  int kernel = -1;
  const LaunchDirective* launch = nullptr;  // the first
  bool launched_again = false;              // by other lines, with blocks of the same size
  std::string most_threads;                 // of a block, by __launch_bounds__; empty for any number
  Blocks blocks = Blocks::kShareAll;
  std::string part;             // of kOwnPart, as an expression of the source
  int element = -1;             // expression that computes one element
  std::vector<int> of_element;  // DeclStmts before it that belong to the same element
  int number = -1;              // what stands for the element's number in it: the declaration of `i`, or an index expression
  bool by_name = false;         // whether `number` is a declaration
  std::string bound;            // `n`, a parameter of the kernel or a macro of evo:size
  int bound_parameter = -1;     // declaration; -1 for a macro
  std::string combine;          // "+", "max", "min", "*", "^", "&" or "|"
  std::string type;             // of partial results
  std::string initial;          // with which a partial result may begin, any number of times
  int output = -1;              // the statement or the atomic's call that leaves the result of a block
  int result = -1;              // the part of `output` that is the result
  bool atomic = false;          // the output is an atomic of the same combination, of one address
  bool own_place = false;       // the output is element blockIdx.x of a buffer
  int target = -1;              // kernel's parameter that is stored through
  std::vector<int> uniform;     // DeclStmts that the above need, the same for all threads of a block
  Parameters parameters;        // the only values for which this was shown
};

// The kernel as such a reduction. Else why it is none, or none that is understood.
std::variant<Reduction, std::string> AsReduction(const MutationContext& context, int kernel);

// Replaces what stands for the element's number within a node.
Replacements NumberAs(const SyntaxTree& tree, const Reduction& reduction, int node, const std::string& text);
// What the launch line passes for a kernel's parameter; nullopt for a struct and for a declaration that is no parameter.
std::optional<std::string> LaunchedAs(const SyntaxTree& tree, const LaunchDirective& launch, int kernel, int parameter);

// Whether a part of the elements may be taken by another block: what the element and the result are computed from does not depend
// on the block, and the results are all combined by the same atomic, or by the launch that follows. Else why not.
struct Redistribution {
  std::string refusal;                // empty if it is possible
  std::optional<Reduction> consumer;  // the launch that combines the results; none for an atomic
  std::size_t count_argument = 0;     // the place of their number among the arguments of its launch
};
Redistribution RedistributionOf(const MutationContext& context, const Reduction& reduction);

}  // namespace evo
