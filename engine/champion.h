#pragma once

#include "core/evaluation.h"

namespace evo {

// Whether a challenger is faster than the champion by more than the noise of the two measurements, so that among equals the first
// stays. Compares the scores' logarithms: their difference must exceed four standard errors, which chance passes once in 30,000
// comparisons, plus half a percent, by which two processes differ on the same kernel, or half a tick of the timer where that is
// more. The standard error of a median is 1.2533 sigma / sqrt(n); sigma comes from the 10% and 90% quantiles, and is at least
// that of rounding to a tick. A challenger that was given up never wins. Precondition: both outcomes are ok and the cases are the
// same.
bool Beats(const Evaluation& challenger, const Evaluation& champion);

}  // namespace evo
