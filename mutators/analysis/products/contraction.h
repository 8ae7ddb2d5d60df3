#pragma once

#include <string>
#include <variant>
#include <vector>

#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/thread_runs/element_grid.h"
#include "mutators/mutator.h"

namespace evo {

// One of the two factors of a contraction's products.
struct ContractionFactor {
  // Which index takes neighbouring elements in memory.
  enum class Inner { kOutput, kReduced, kNeither };

  int expression = -1;  // `a[k]`, with what is done to the element: `__half2float(a[k])`
  Inner inner = Inner::kNeither;
  std::vector<int> repeated;  // expressions that are the same
};

// A kernel in which each thread computes one element of a matrix product, or of what has its form:
//   for (k ..) sum += f(a[..]) * g(b[..]);   out[..] = h(sum);
// Instead of the product there may be another expression of the two factors that is 0 if both are: the square of a difference.
// Every variable is classed by what it indexes: m the output and one factor, n the output and the other, k both factors but not
// the output. What indexes all three, or nothing, is the same for all threads of a block.
struct Contraction {
  ElementGrid grid;
  ElementGrid::Index m;       // of grid.indices
  ElementGrid::Index n;       // of grid.indices; the output's neighbouring elements, if any are
  CountedLoop k;              // from 0 in steps of 1, below its bound
  int accumulator = -1;       // declaration of `sum`
  int start = -1;             // what it starts with, which may depend on m and n; -1 if that is 0
  int update = -1;            // the statement that adds a product
  ContractionFactor a;        // depends on m and k
  ContractionFactor b;        // depends on n and k
  std::vector<int> before;    // DeclStmts outside of the loop, in order, without those of the indices and of `sum`
  std::vector<int> in_loop;   // DeclStmts before the update in the loop
  std::vector<int> combined;  // variables of those that depend on both factors
  std::vector<int> epilogue;  // the statements after the loop
  bool of_words = false;      // whether a product is that of four bytes each: `sum = __dp4a(a[k], b[k], sum)`
};

// The kernel as a contraction. Else why it is none, or none that is understood: words that follow "the kernel ... : ".
std::variant<Contraction, std::string> AsContraction(const MutationContext& context, int kernel);
// The same, which may be of words.
std::variant<Contraction, std::string> AsContractionOfWords(const MutationContext& context, int kernel);

// Those of these DeclStmts that an expression or a statement needs, directly or through others of them, in order.
std::vector<int> NeededDeclarations(const SyntaxTree& tree, const std::vector<int>& nodes, const std::vector<int>& declarations);

}  // namespace evo
