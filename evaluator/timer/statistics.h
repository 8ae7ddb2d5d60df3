#pragma once

#include <cstdint>
#include <vector>

namespace evo {

// The median of tick counts as if each count t were spread evenly over [t - 1/2, t + 1/2): the grouped-data median. A coarse
// timer gives many equal counts, among which the plain median cannot tell two kernels apart that differ by less than a tick. In
// ticks. Precondition: not empty.
double InterpolatedMedian(std::vector<std::uint32_t> ticks);

// The q-quantile by linear interpolation between order statistics, 0 <= q <= 1. Precondition: not empty.
double Quantile(std::vector<std::uint32_t> ticks, double q);

// Half the width of the 95% confidence interval of the median, divided by the median. Follows from order statistics (ranks n/2 -+
// 0.98 sqrt n), so that no distribution is assumed. 1 for fewer than 6 samples, which have no such interval.
double RelativeHalfWidth(std::vector<std::uint32_t> ticks);

// The number of samples above the median by more than five standard deviations and at least two ticks: another process had the
// machine. The standard deviation is estimated as 1.4826 times the median of absolute deviations, which is exact for a normal
// distribution. Precondition: not empty.
int CountOutliers(const std::vector<std::uint32_t>& ticks);

}  // namespace evo
