// What nvcc gives a kernel without an #include: nvcc reads the toolkit's cuda_runtime.h before every file, and with it the host's
// <cmath>, <cstdlib>, <limits.h> and <sys/types.h>. NVRTC reads this file in its place. It takes nothing from cuda/std, of which
// <cuda/std/limits> alone costs NVRTC 0.1 s. FLT_MAX and uint32_t are not here, because nvcc needs <cfloat> and <cstdint> for them.
#pragma once
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits.h>
#include <sys/types.h>

#ifndef offsetof
#define offsetof(type, member) __INTADDR__(&(((type*)0)->member))
#endif

namespace std {
using ::ptrdiff_t;
using ::size_t;
using nullptr_t = decltype(nullptr);
}  // namespace std

// NVRTC has pow(double, int) and pow(float, int), but no other mixed arguments, which compute in double.
template <class T>
struct __nvcc_real {};
#define __NVCC_REAL(type)    \
  template <>                \
  struct __nvcc_real<type> { \
    using real = double;     \
  };
__NVCC_REAL(bool)
__NVCC_REAL(char)
__NVCC_REAL(signed char)
__NVCC_REAL(unsigned char)
__NVCC_REAL(short)
__NVCC_REAL(unsigned short)
__NVCC_REAL(int)
__NVCC_REAL(unsigned)
__NVCC_REAL(long)
__NVCC_REAL(unsigned long)
__NVCC_REAL(long long)
__NVCC_REAL(unsigned long long)
__NVCC_REAL(float)
__NVCC_REAL(double)
#undef __NVCC_REAL

template <class A, class B>
static inline __device__ typename __nvcc_real<B>::real pow(A base, B exponent) {
  return pow(static_cast<typename __nvcc_real<A>::real>(base), static_cast<double>(exponent));
}
