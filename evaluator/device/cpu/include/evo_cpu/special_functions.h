#pragma once

// Functions of CUDA's mathematics that the C library lacks.

inline double rcbrt(double x) { return 1 / std::cbrt(x); }
inline float rcbrtf(float x) { return static_cast<float>(rcbrt(static_cast<double>(x))); }
inline double rhypot(double x, double y) { return 1 / std::hypot(x, y); }
inline float rhypotf(float x, float y) { return static_cast<float>(rhypot(static_cast<double>(x), static_cast<double>(y))); }
inline double norm4d(double a, double b, double c, double d) { return std::hypot(std::hypot(a, b), std::hypot(c, d)); }
inline float norm4df(float a, float b, float c, float d) { return static_cast<float>(norm4d(a, b, c, d)); }
inline float rnorm3df(float a, float b, float c) { return static_cast<float>(1 / std::hypot(double(a), double(b), double(c))); }
inline float rnorm4df(float a, float b, float c, float d) { return static_cast<float>(1 / norm4d(a, b, c, d)); }

// Exact at multiples of a half, as the device's are.
inline double sinpi(double x) {
  const double rest = std::remainder(x, 2.0);  // -1 to 1
  if (std::fabs(rest) > 0.5) return std::sin(M_PI * (std::copysign(1.0, rest) - rest));
  return std::sin(M_PI * rest);
}
inline float sinpif(float x) { return static_cast<float>(sinpi(static_cast<double>(x))); }
inline double cospi(double x) { return sinpi(0.5 - std::fabs(std::remainder(x, 2.0))); }
inline float cospif(float x) { return static_cast<float>(cospi(static_cast<double>(x))); }

inline double normcdf(double x) { return 0.5 * std::erfc(-x * M_SQRT1_2); }
inline float normcdff(float x) { return static_cast<float>(normcdf(static_cast<double>(x))); }

// An estimate by Winitzki's formula, then Newton's method on erf.
inline double erfinv(double y) {
  if (!(std::fabs(y) < 1)) return std::fabs(y) == 1 ? y * INFINITY : NAN;
  constexpr double kA = 0.147;
  const double logarithm = std::log1p(-y * y);
  const double half = 2 / (M_PI * kA) + 0.5 * logarithm;
  double x = std::copysign(std::sqrt(std::sqrt(half * half - logarithm / kA) - half), y);
  for (int i = 0; i < 3; ++i) x -= (std::erf(x) - y) / (M_2_SQRTPI * std::exp(-x * x));
  return x;
}
inline float erfinvf(float y) { return static_cast<float>(erfinv(static_cast<double>(y))); }
