#pragma once

#include <vector>

namespace evo {

// Of arrays with millions of elements: each takes several threads. The results do not depend on how many there are.

// Elements that are not finite count as zero.
double RootMeanSquare(const std::vector<double>& values);

// The largest magnitude. Infinities count, numbers that are none do not.
double Largest(const std::vector<double>& values);
double LargestFinite(const std::vector<double>& values);
bool AllFinite(const std::vector<double>& values);

// The differences of two arrays of one size.
std::vector<double> Minus(std::vector<double> values, const std::vector<double>& others);

}  // namespace evo
