#pragma once

#include "core/evaluation.h"

namespace evo {

// Whether a challenger is faster than the champion by more than the noise of the two measurements, so that the first of equal
// kernels stays champion. The difference between the logarithms of the scores must exceed the sum of two terms. The first is four
// standard errors, which chance exceeds once in 30,000 comparisons. The second is half a percent, by which two processes differ
// on the same kernel, or half a tick of the timer if that is more. The standard error of a median is 1.2533 sigma / sqrt(n);
// sigma comes from the 10% and 90% quantiles and is at least that of rounding to a tick. A challenger whose timing was pruned
// never wins. Precondition: both outcomes are ok and the cases are the same.
bool Beats(const Evaluation& challenger, const Evaluation& champion);

}  // namespace evo
