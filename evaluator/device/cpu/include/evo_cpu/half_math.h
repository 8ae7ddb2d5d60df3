#pragma once

// Half and bfloat16 functions that the toolkit declares for device code only. Computed in float and rounded once, as the hardware
// does for one operation.

namespace evo_cpu {

inline float ToFloat(__half x) { return __half2float(x); }
inline float ToFloat(__nv_bfloat16 x) { return __bfloat162float(x); }
template <typename T>
T FromFloat(float x) {
  if constexpr (std::is_same_v<T, __half>)
    return __float2half_rn(x);
  else
    return __float2bfloat16_rn(x);
}

}  // namespace evo_cpu

#define EVO_CPU_HALF_UNARY(name, name2, expression)                                                     \
  inline __half name(__half a) {                                                                        \
    const float x = evo_cpu::ToFloat(a);                                                                \
    return evo_cpu::FromFloat<__half>(expression);                                                      \
  }                                                                                                     \
  inline __nv_bfloat16 name(__nv_bfloat16 a) {                                                          \
    const float x = evo_cpu::ToFloat(a);                                                                \
    return evo_cpu::FromFloat<__nv_bfloat16>(expression);                                               \
  }                                                                                                     \
  inline __half2 name2(__half2 a) { return __halves2half2(name(__low2half(a)), name(__high2half(a))); } \
  inline __nv_bfloat162 name2(__nv_bfloat162 a) { return __halves2bfloat162(name(__low2bfloat16(a)), name(__high2bfloat16(a))); }
EVO_CPU_HALF_UNARY(hexp, h2exp, std::exp(x))
EVO_CPU_HALF_UNARY(hexp2, h2exp2, std::exp2(x))
EVO_CPU_HALF_UNARY(hexp10, h2exp10, std::pow(10.0f, x))
EVO_CPU_HALF_UNARY(hlog, h2log, std::log(x))
EVO_CPU_HALF_UNARY(hlog2, h2log2, std::log2(x))
EVO_CPU_HALF_UNARY(hlog10, h2log10, std::log10(x))
EVO_CPU_HALF_UNARY(hsqrt, h2sqrt, std::sqrt(x))
EVO_CPU_HALF_UNARY(hrsqrt, h2rsqrt, 1 / std::sqrt(x))
EVO_CPU_HALF_UNARY(hrcp, h2rcp, 1 / x)
EVO_CPU_HALF_UNARY(hsin, h2sin, std::sin(x))
EVO_CPU_HALF_UNARY(hcos, h2cos, std::cos(x))
EVO_CPU_HALF_UNARY(hfloor, h2floor, std::floor(x))
EVO_CPU_HALF_UNARY(hceil, h2ceil, std::ceil(x))
EVO_CPU_HALF_UNARY(htrunc, h2trunc, std::trunc(x))
EVO_CPU_HALF_UNARY(hrint, h2rint, std::nearbyint(x))
EVO_CPU_HALF_UNARY(htanh, h2tanh, std::tanh(x))
#undef EVO_CPU_HALF_UNARY

inline __half __hfma(__half a, __half b, __half c) {
  return __float2half_rn(std::fma(__half2float(a), __half2float(b), __half2float(c)));
}
inline __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  return __float2bfloat16_rn(std::fma(__bfloat162float(a), __bfloat162float(b), __bfloat162float(c)));
}
inline __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return __halves2half2(__hfma(__low2half(a), __low2half(b), __low2half(c)),
                        __hfma(__high2half(a), __high2half(b), __high2half(c)));
}
inline __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  return __halves2bfloat162(__hfma(__low2bfloat16(a), __low2bfloat16(b), __low2bfloat16(c)),
                            __hfma(__high2bfloat16(a), __high2bfloat16(b), __high2bfloat16(c)));
}
inline __half __hfma_relu(__half a, __half b, __half c) {
  const __half sum = __hfma(a, b, c);
  return __half2float(sum) < 0 ? __float2half_rn(0) : sum;
}
inline __half __hfma_sat(__half a, __half b, __half c) {
  return __float2half_rn(std::fmin(1.0f, std::fmax(0.0f, __half2float(__hfma(a, b, c)))));
}
