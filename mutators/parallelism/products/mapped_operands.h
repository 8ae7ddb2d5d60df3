#pragma once

#include <optional>
#include <string>

#include "mutators/parallelism/products/contraction_text.h"
#include "mutators/parallelism/products/tensor_writer.h"

namespace evo {

// One factor of a contraction as a matrix that a tensor map describes. Sizes are expressions of the launch line.
struct MappedOperand {
  std::string buffer;  // what the launch line passes
  std::string inner;   // elements of a row, which follow one another
  std::string outer;   // rows, without gaps
};

// A contraction whose factors are matrices without gaps that begin where their buffers do.
struct MappedOperands {
  MappedOperand a, b;
  std::string m, n;  // the output's sizes
};

// nullopt if an index is not understood or leaves gaps, if a size is not what the launch line passes, or if the launch is one of
// a loop, a condition, a cluster or a function template.
std::optional<MappedOperands> AsMappedOperands(const MutationContext& context, const Contraction& found,
                                               const TensorOperands& operands);

}  // namespace evo
