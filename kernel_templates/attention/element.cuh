// The element type of a template with the parameter BF16, its name in PTX, and two elements in one register.
#pragma once

#if BF16
using Element = __nv_bfloat16;
#define ELEMENT_NAME "bf16"
#else
using Element = half;
#define ELEMENT_NAME "f16"
#endif

// Two elements in one register.
__device__ __forceinline__ unsigned Pack(float low, float high) {
#if BF16
  const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
#else
  const half2 both = __floats2half2_rn(low, high);
#endif
  return *reinterpret_cast<const unsigned*>(&both);
}
