#pragma once

#include <cstdint>
#include <vector>

namespace evo {

// The median of tick counts as if each count t were spread evenly over [t - 1/2, t + 1/2): the grouped-data median. A coarse
// timer gives many equal counts, and the plain median could not tell two kernels apart that differ by less than a tick. Unit:
// ticks. Precondition: not empty.
double InterpolatedMedian(std::vector<std::uint32_t> ticks);

// The q-quantile by linear interpolation between order statistics, 0 <= q <= 1. Precondition: not empty.
double Quantile(std::vector<std::uint32_t> ticks, double q);

// Half the width of the 95% confidence interval of the median, over the median; from order statistics (ranks n/2 -+ 0.98 sqrt n),
// so no distribution is assumed. 1 if there are fewer than 6 samples, for which no such interval exists.
double RelativeHalfWidth(std::vector<std::uint32_t> ticks);

// Samples that lie above the median by more than five standard deviations, the deviation estimated by the median of absolute
// deviations (times 1.4826, which makes it that of a normal distribution), and by two ticks at least: something else had the
// machine. Precondition: not empty.
int CountOutliers(const std::vector<std::uint32_t>& ticks);

}  // namespace evo
