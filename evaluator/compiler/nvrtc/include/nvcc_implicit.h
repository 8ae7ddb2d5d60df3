// What nvcc gives a kernel without an #include: nvcc reads the toolkit's cuda_runtime.h before every file, and with it the host's
// <cmath>, <cstdlib>, <limits.h> and <sys/types.h>. NVRTC reads this file in its place. It takes nothing from cuda/std, of which
// <cuda/std/limits> alone costs NVRTC 0.1 s. FLT_MAX and uint32_t are not here, because nvcc needs <cfloat> and <cstdint> for
// them.
#pragma once
#include <limits.h>
#include <sys/types.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#ifndef offsetof
#define offsetof(type, member) __INTADDR__(&(((type*)0)->member))
#endif

// Types of the runtime that CUB's headers for blocks and warps mention.
enum cudaError { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorUnknown = 999 };
typedef enum cudaError cudaError_t;
typedef struct CUstream_st* cudaStream_t;
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault = 0,
  cudaSharedMemBankSizeFourByte = 1,
  cudaSharedMemBankSizeEightByte = 2
};

// No warning where cuda/std defines INFINITY and NAN once more, in its own way.
#pragma nv_diag_suppress 47

namespace std {
using ::ptrdiff_t;
using ::size_t;
using nullptr_t = decltype(nullptr);
}  // namespace std

// NVRTC multiplies for pow(float, int) and pow(double, int), and has no other mixed arguments. For nvcc, as C++11 says, all of
// them are pow(double, double), whose result and time differ. A built-in function cannot be replaced otherwise than by a macro.
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

static inline __host__ __device__ float __nvcc_pow(float base, float exponent) { return pow(base, exponent); }
static inline __host__ __device__ double __nvcc_pow(double base, double exponent) { return pow(base, exponent); }
template <class A, class B>
static inline __host__ __device__ typename __nvcc_real<B>::real __nvcc_pow(A base, B exponent) {
  return pow(static_cast<typename __nvcc_real<A>::real>(base), static_cast<double>(exponent));
}
namespace std {
using ::__nvcc_pow;
}
#define pow(...) __nvcc_pow(__VA_ARGS__)
