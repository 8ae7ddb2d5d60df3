#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "kernel_templates/task.h"

namespace evo {

// How much of a kernel's work could be missing without its check seeing it. Errors are given over what the check allows: a
// mistake of less than 1 passes.

// Beyond this a ratio says no more.
inline constexpr double kCertainlySeen = 1e9;

// Zeros in the place of one block's share of an output: consecutive elements, the same number for each block. On several inputs:
// the check has to see the mistake on one of them.
class BlockOmission {
 public:
  // Preconditions: both are positive.
  BlockOmission(std::size_t elements, std::size_t blocks);

  // The right answer to one more input, and bounds as numbers. Precondition: `elements` values.
  void Add(const std::vector<double>& reference, const OutputCheck& check);

  struct Block {
    std::size_t index = 0;
    std::size_t of = 0;  // blocks
    double ratio = 0;
  };
  // The block that is missed least. Blocks whose answer is zero on all inputs do not count: zeros are right there. nullopt if no
  // others are left.
  std::optional<Block> Least() const;

 private:
  std::size_t elements_;
  std::size_t share_;
  std::vector<double> ratios_;     // by block, the largest over the inputs
  std::vector<bool> has_nonzero_;  // by block
};

// One term of average magnitude missing in every sum of `terms` terms. `of_magnitudes` is the right answer to the absolute values
// of the inputs: over the number of terms, what a term adds on average. Preconditions: both answers have the same size, and
// bounds are numbers.
double TermOmission(const std::vector<double>& reference, const std::vector<double>& of_magnitudes, double terms,
                    const OutputCheck& check);

}  // namespace evo
