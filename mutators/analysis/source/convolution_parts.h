#pragma once

#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "syntax/syntax_tree.h"

namespace evo {

// The parts of a kernel that sums up in a loop and then stores what it makes of the sum.
struct ConvolutionParts {
  int loop = -1;
  std::vector<int> epilogue;  // the statements after it in its block
  std::vector<int> stored;    // what stores in these statements store to: nodes
  int accumulator = -1;       // the float that the loop changes and that these statements name
  bool starts_at_zero = false;
  std::set<int> variables;  // integers that the kernel declares outside of the loop and of these statements
  bool deep = false;        // three loops in each other or more
  // Whether nothing is known but what the kernel stores, which then must be sums as they are.
  bool plain() const { return loop < 0; }
};

// Whether all that a kernel computes with, beside indices, are elements of `int` of its buffers: two of these at least.
bool ComputesInWords(const SyntaxTree& tree, int kernel);

// Plain parts, if someone might take the kernel for a convolution.
std::optional<ConvolutionParts> PlainPartsOf(const SyntaxTree& tree, int kernel);

// The parts. Else why there are none; empty if nobody would take the kernel for a convolution.
std::variant<ConvolutionParts, std::string> ConvolutionPartsOf(const SyntaxTree& tree, int kernel);

// The parts of a kernel with a sum of whatever: else why there are none. `variables` and `deep` are not set.
std::variant<ConvolutionParts, std::string> SumPartsOf(const SyntaxTree& tree, int kernel);

}  // namespace evo
