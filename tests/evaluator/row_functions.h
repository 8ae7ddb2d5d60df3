#pragma once

// Softmax, layer norm and sums of rows as plain functions: in double as the truth, honest ones and wrong ones in float.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "core/half.h"

namespace evo::rows {

// One row, and the other inputs of the function, in the order of the task.
template <typename T>
using Inputs = std::vector<std::vector<T>>;
template <typename T>
using Row = std::span<const T>;

template <typename T>
using Softmax = std::function<void(Row<T> x, std::span<T> y)>;

// ---- softmax: from a maximum, and exp ----

template <typename T>
T Largest(Row<T> x) {
  return *std::ranges::max_element(x);
}

template <typename T>
void SoftmaxFrom(T maximum, Row<T> x, std::span<T> y, T least_term = 0) {
  T sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] = std::exp(x[i] - maximum);
    if (y[i] < least_term) y[i] = 0;
    sum += y[i];
  }
  for (T& one : y) one /= sum;
}

template <typename T>
void TwoPassSoftmax(Row<T> x, std::span<T> y) {
  SoftmaxFrom<T>(Largest(x), x, y);
}

// One pass: the sum is scaled whenever the maximum grows.
inline void OnlineSoftmax(Row<float> x, std::span<float> y) {
  float maximum = -std::numeric_limits<float>::infinity();
  float sum = 0;
  for (const float value : x) {
    const float larger = std::max(maximum, value);
    if (larger == -std::numeric_limits<float>::infinity()) continue;
    sum = sum * std::exp(maximum - larger) + std::exp(value - larger);
    maximum = larger;
  }
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = std::exp(x[i] - maximum) / sum;
}

// exp as 2^(x log2 e) in fp32, off by units in the last place that grow with |x|, like __expf.
inline float FastExp(float x) { return std::exp2(x * 1.44269504F); }

inline void FastSoftmax(Row<float> x, std::span<float> y) {
  const float maximum = Largest(x);
  float parts[4] = {};
  for (std::size_t i = 0; i < x.size(); ++i) parts[i % 4] += y[i] = FastExp(x[i] - maximum);
  const float reciprocal = 1 / ((parts[0] + parts[1]) + (parts[2] + parts[3]));
  for (float& one : y) one *= reciprocal;
}

inline void SoftmaxWithoutMaximum(Row<float> x, std::span<float> y) { SoftmaxFrom<float>(0, x, y); }
inline void SoftmaxFromFirst(Row<float> x, std::span<float> y) { SoftmaxFrom<float>(x.front(), x, y); }
inline void SoftmaxFromZero(Row<float> x, std::span<float> y) { SoftmaxFrom<float>(std::max(0.0F, Largest(x)), x, y); }
inline void SoftmaxOfSample(Row<float> x, std::span<float> y) {
  float maximum = x.front();
  for (std::size_t i = 0; i < x.size(); i += 4) maximum = std::max(maximum, x[i]);
  SoftmaxFrom<float>(maximum, x, y);
}
inline void SoftmaxOfFirstBlock(Row<float> x, std::span<float> y) {
  SoftmaxFrom<float>(Largest(x.first(std::min<std::size_t>(x.size(), 32))), x, y);
}
inline void SoftmaxWithoutSmallTerms(Row<float> x, std::span<float> y) { SoftmaxFrom<float>(Largest(x), x, y, 1e-4F); }

// ---- sums ----

template <typename T>
T Sum(Row<T> x) {
  T sum = 0;
  for (const T one : x) sum += one;
  return sum;
}

inline float TreeSum(Row<float> x) {
  if (x.size() == 1) return x.front();
  const std::size_t half = x.size() / 2;
  return TreeSum(x.first(half)) + TreeSum(x.subspan(half));
}

inline float InterleavedSum(Row<float> x) {
  float lanes[32] = {};
  for (std::size_t i = 0; i < x.size(); ++i) lanes[i % 32] += x[i];
  return TreeSum(lanes);
}

inline float ReversedSum(Row<float> x) {
  float sum = 0;
  for (std::size_t i = x.size(); i-- > 0;) sum += x[i];
  return sum;
}

inline float HalfSum(Row<float> x) {
  std::uint16_t sum = 0;
  for (const float one : x) sum = ToHalfBits(static_cast<double>(FromHalfBits(sum) + one));
  return FromHalfBits(sum);
}

inline float SumWithoutTail(Row<float> x) { return Sum(x.first(x.size() / 32 * 32)); }

// Right unless terms are small and many, or cancel.
inline float SumOfLargeTerms(Row<float> x) {
  float sum = 0;
  for (const float one : x) sum += std::abs(one) < 1e-6F ? 0 : one;
  return sum;
}

// ---- layer norm ----

template <typename T>
struct Moments {
  T mean = 0;
  T variance = 0;
};

template <typename T>
void Normalise(const Moments<T>& moments, T eps, Row<T> x, Row<T> gamma, Row<T> beta, std::span<T> y) {
  const T scale = 1 / std::sqrt(moments.variance + eps);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = (x[i] - moments.mean) * scale * gamma[i] + beta[i];
}

template <typename T>
Moments<T> TwoPassMoments(Row<T> x) {
  Moments<T> moments{Sum(x) / static_cast<T>(x.size()), 0};
  for (const T one : x) moments.variance += (one - moments.mean) * (one - moments.mean);
  moments.variance /= static_cast<T>(x.size());
  return moments;
}

inline Moments<float> TreeMoments(Row<float> x) {
  Moments<float> moments{InterleavedSum(x) / static_cast<float>(x.size()), 0};
  std::vector<float> squares;
  for (const float one : x) squares.push_back((one - moments.mean) * (one - moments.mean));
  moments.variance = InterleavedSum(squares) / static_cast<float>(x.size());
  return moments;
}

// Welford's recurrence in 32 lanes, which are joined pair by pair with Chan's formula, as a warp does it.
inline Moments<float> WelfordMoments(Row<float> x) {
  struct Part {
    float count = 0;
    float mean = 0;
    float squares = 0;
  };
  Part lanes[32];
  for (std::size_t i = 0; i < x.size(); ++i) {
    Part& lane = lanes[i % 32];
    const float difference = x[i] - lane.mean;
    lane.count += 1;
    lane.mean += difference / lane.count;
    lane.squares += difference * (x[i] - lane.mean);
  }
  for (int step = 16; step > 0; step /= 2) {
    for (int i = 0; i < step; ++i) {
      Part& one = lanes[i];
      const Part& other = lanes[i + step];
      const float count = one.count + other.count;
      if (other.count == 0) continue;
      const float difference = other.mean - one.mean;
      one.mean += difference * (other.count / count);
      one.squares += other.squares + difference * difference * (one.count * other.count / count);
      one.count = count;
    }
  }
  return {lanes[0].mean, lanes[0].squares / lanes[0].count};
}

// E[(x - shift)^2] - E[x - shift]^2.
inline Moments<float> ShiftedMoments(Row<float> x, float shift) {
  float sum = 0;
  float squares = 0;
  for (const float one : x) {
    sum += one - shift;
    squares += (one - shift) * (one - shift);
  }
  const float mean = sum / static_cast<float>(x.size());
  return {mean + shift, squares / static_cast<float>(x.size()) - mean * mean};
}

}  // namespace evo::rows
