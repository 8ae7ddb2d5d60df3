#pragma once

// Device intrinsics that the toolkit does not declare for a plain host compile. Approximate ones are computed exactly: what they
// lose on a GPU is not emulated. Atomics are plain: one thread runs at a time.

inline void __syncthreads() { evo_cpu_runtime->sync_block(); }
inline void __threadfence() { evo_cpu::TellFence(); }
inline void __threadfence_block() { evo_cpu::TellFence(); }
inline void __threadfence_system() { evo_cpu::TellFence(); }
inline void __nanosleep(unsigned) {}
[[noreturn]] inline void __trap() {
  evo_cpu_runtime->trap("__trap()");
  __builtin_unreachable();
}
inline void __brkpt() { __trap(); }
inline void __builtin_assume_(bool) {}

// Loads and stores with cache hints are loads and stores.
#define EVO_CPU_LOAD(name)    \
  template <typename T>       \
  inline T name(const T* p) { \
    return *p;                \
  }
EVO_CPU_LOAD(__ldg)
EVO_CPU_LOAD(__ldca)
EVO_CPU_LOAD(__ldcg)
EVO_CPU_LOAD(__ldcs)
EVO_CPU_LOAD(__ldlu)
EVO_CPU_LOAD(__ldcv)
#undef EVO_CPU_LOAD
#define EVO_CPU_STORE(name)         \
  template <typename T, typename U> \
  inline void name(T* p, U value) { \
    *p = static_cast<T>(value);     \
  }
EVO_CPU_STORE(__stwb)
EVO_CPU_STORE(__stcg)
EVO_CPU_STORE(__stcs)
EVO_CPU_STORE(__stwt)
#undef EVO_CPU_STORE

inline float __expf(float x) { return std::exp(x); }
inline float __exp10f(float x) { return std::pow(10.0f, x); }
inline float __logf(float x) { return std::log(x); }
inline float __log2f(float x) { return std::log2(x); }
inline float __log10f(float x) { return std::log10(x); }
inline float __sinf(float x) { return std::sin(x); }
inline float __cosf(float x) { return std::cos(x); }
inline float __tanf(float x) { return std::tan(x); }
inline float __tanhf(float x) { return std::tanh(x); }
inline float __powf(float x, float y) { return std::pow(x, y); }
inline void __sincosf(float x, float* s, float* c) {
  *s = std::sin(x);
  *c = std::cos(x);
}
inline float __fdividef(float x, float y) { return x / y; }
inline float __saturatef(float x) { return x < 0 ? 0 : x > 1 ? 1 : x == x ? x : 0; }
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline float exp10f(float x) { return std::pow(10.0f, x); }
inline float __frcp_rn(float x) { return 1 / x; }
inline float __frsqrt_rn(float x) { return 1 / std::sqrt(x); }
inline float __fsqrt_rn(float x) { return std::sqrt(x); }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fmaf_rn(float x, float y, float z) { return std::fma(x, y, z); }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline double __ddiv_rn(double x, double y) { return x / y; }
inline double __fma_rn(double x, double y, double z) { return std::fma(x, y, z); }
inline float fdividef(float x, float y) { return x / y; }
inline float norm3df(float a, float b, float c) { return std::sqrt(a * a + b * b + c * c); }
inline void sincospif(float x, float* s, float* c) {
  *s = std::sin(x * 3.14159265358979f);
  *c = std::cos(x * 3.14159265358979f);
}

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int i = 0; i < 32; ++i) reversed |= ((x >> i) & 1u) << (31 - i);
  return reversed;
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long both = (static_cast<unsigned long long>(y) << 32) | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) result |= static_cast<unsigned>((both >> (8 * ((selector >> (4 * i)) & 7))) & 0xff) << (8 * i);
  return result;
}
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift) {
  return static_cast<unsigned>((((static_cast<unsigned long long>(hi) << 32) | lo) << (shift & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift) {
  return static_cast<unsigned>(((static_cast<unsigned long long>(hi) << 32) | lo) >> (shift & 31));
}
inline int __mul24(int x, int y) { return x * y; }
inline unsigned __umul24(unsigned x, unsigned y) { return x * y; }
inline int __mulhi(int x, int y) { return static_cast<int>((static_cast<long long>(x) * y) >> 32); }
inline unsigned __umulhi(unsigned x, unsigned y) { return static_cast<unsigned>((static_cast<unsigned long long>(x) * y) >> 32); }
inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i) c += static_cast<signed char>(a >> (8 * i)) * static_cast<signed char>(b >> (8 * i));
  return c;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (unsigned i = 0; i < 4; ++i) c += (a >> (8 * i) & 0xff) * (b >> (8 * i) & 0xff);
  return c;
}

#define EVO_CPU_BITS(name, From, To)    \
  inline To name(From from) {           \
    To to;                              \
    std::memcpy(&to, &from, sizeof to); \
    return to;                          \
  }
EVO_CPU_BITS(__float_as_int, float, int)
EVO_CPU_BITS(__int_as_float, int, float)
EVO_CPU_BITS(__float_as_uint, float, unsigned)
EVO_CPU_BITS(__uint_as_float, unsigned, float)
EVO_CPU_BITS(__double_as_longlong, double, long long)
EVO_CPU_BITS(__longlong_as_double, long long, double)
#undef EVO_CPU_BITS
inline int __float2int_rn(float x) { return static_cast<int>(std::nearbyint(x)); }
inline int __float2int_rz(float x) { return static_cast<int>(x); }
inline int __float2int_ru(float x) { return static_cast<int>(std::ceil(x)); }
inline int __float2int_rd(float x) { return static_cast<int>(std::floor(x)); }
inline unsigned __float2uint_rn(float x) { return static_cast<unsigned>(std::nearbyint(x)); }
inline unsigned __float2uint_rz(float x) { return static_cast<unsigned>(x); }
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }
inline size_t __cvta_generic_to_shared(const void* p) { return reinterpret_cast<size_t>(p); }

// CUDA's overloads of the standard names, mixed types included.
using std::abs;
using std::isfinite;
using std::isinf;
using std::isnan;
template <typename A, typename B>
inline std::common_type_t<A, B> min(A a, B b) {
  using T = std::common_type_t<A, B>;
  if constexpr (std::is_floating_point_v<T>)
    return std::fmin(static_cast<T>(a), static_cast<T>(b));
  else
    return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a);
}
template <typename A, typename B>
inline std::common_type_t<A, B> max(A a, B b) {
  using T = std::common_type_t<A, B>;
  if constexpr (std::is_floating_point_v<T>)
    return std::fmax(static_cast<T>(a), static_cast<T>(b));
  else
    return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a);
}

#define EVO_CPU_ATOMIC(name, expression)                 \
  template <typename T, typename U>                      \
  EVO_CPU_UNCHECKED inline T name(T* address, U given) { \
    evo_cpu::TellAtomic(address, sizeof(T));             \
    const T old = *address;                              \
    const T value = static_cast<T>(given);               \
    *address = expression;                               \
    return old;                                          \
  }                                                      \
  template <typename T, typename U>                      \
  inline T name##_block(T* address, U given) {           \
    return name(address, given);                         \
  }
EVO_CPU_ATOMIC(atomicAdd, old + value)
EVO_CPU_ATOMIC(atomicSub, old - value)
EVO_CPU_ATOMIC(atomicExch, value)
EVO_CPU_ATOMIC(atomicMin, value < old ? value : old)
EVO_CPU_ATOMIC(atomicMax, old < value ? value : old)
EVO_CPU_ATOMIC(atomicAnd, old& value)
EVO_CPU_ATOMIC(atomicOr, old | value)
EVO_CPU_ATOMIC(atomicXor, old ^ value)
EVO_CPU_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
EVO_CPU_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
#undef EVO_CPU_ATOMIC
template <typename T, typename U, typename V>
EVO_CPU_UNCHECKED inline T atomicCAS(T* address, U expected, V desired) {
  evo_cpu::TellAtomic(address, sizeof(T));
  const T old = *address;
  if (old == static_cast<T>(expected)) *address = static_cast<T>(desired);
  return old;
}
