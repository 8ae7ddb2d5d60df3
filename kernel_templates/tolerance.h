#pragma once

#include <vector>

#include "core/expression.h"
#include "kernel_templates/dtype.h"

namespace evo {

// Where the errors of an honest kernel's output come from.
struct ErrorSources {
  Expression sum = Expression::Parse("1");  // terms that are added up for one element
  Dtype accumulator = Dtype::kF32;          // in which they are
  std::vector<Dtype> rounded;               // intermediate values are rounded to these on the way
  double ulps = 0;  // of fp32, by functions such as exp: units in the last place, fast intrinsics included
  Expression peak = Expression::Parse("6");  // largest element of the output over its rms: 6 covers millions of normal ones
};

// Bounds on the relative L2 error and on the largest error over the reference's rms.
struct Tolerance {
  double l2 = 0;
  double max = 0;
};

// Six times the rms error to be expected, u being the unit round-off of a dtype (2^-24 for fp32): u / sqrt(3) for each value that
// is rounded to it, the output last, and u sqrt(n / 6) for a sum of n terms one after another, whose roundings meet partial sums
// of 1 to n terms at random (the probabilistic bound of N. J. Higham and T. Mary, "A New Approach to Probabilistic Rounding Error
// Analysis", 2019, has the same root). A sum in a narrower dtype than the accumulator's exceeds it by far. The largest error goes
// with the largest element. Throws Error for an expression that cannot be evaluated or is not positive.
Tolerance DeriveTolerance(const ErrorSources& sources, Dtype output, const Variables& sizes);

}  // namespace evo
