#pragma once

#include <vector>

#include "core/expression.h"
#include "kernel_templates/dtype.h"

namespace evo {

// The sources of the errors in an honest kernel's output.
struct ErrorSources {
  Expression sum = Expression::Parse("1");  // number of terms that are summed for one element
  Dtype accumulator = Dtype::kF32;          // the type in which they are summed
  std::vector<Dtype> rounded;               // intermediate values are rounded to these types
  double ulps = 0;  // units in the last place of fp32 that functions such as exp may be off by, fast intrinsics too
  // Largest element of the output over its rms; 6 covers millions of normal values.
  Expression peak = Expression::Parse("6");
  bool states_peak = false;  // otherwise that of the reference's answer counts where it is larger
};

// Bounds on the relative L2 error and on the largest error over the reference's rms.
struct Tolerance {
  double l2 = 0;
  double max = 0;
};

// Six times the expected rms error. With u as the unit round-off of a dtype (2^-24 for fp32), each value that is rounded to the
// dtype, the output included, adds u / sqrt(3), and a sum of n terms, one after another, adds u sqrt(n / 6), because each
// rounding is random and relative to a partial sum of 1 to n terms (the probabilistic bound of N. J. Higham and T. Mary, "A New
// Approach to Probabilistic Rounding Error Analysis", 2019, has the same root). A sum in a dtype narrower than the accumulator's
// exceeds the bound by far. The bound on the largest error is proportional to the largest element. Throws Error for an expression
// that cannot be evaluated or is not positive.
Tolerance DeriveTolerance(const ErrorSources& sources, Dtype output, const Variables& sizes);

}  // namespace evo
