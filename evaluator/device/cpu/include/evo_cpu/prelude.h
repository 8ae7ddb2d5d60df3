#pragma once

// What a .cu sees on the cpu device instead of nvcc's built-ins. Force-included before the source.

// Without the special functions of C++17, which device code does not have: g++ instantiates all of them in every image.
#include <bits/c++config.h>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#define _GLIBCXX_USE_STD_SPEC_FUNCS 0

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "evo_cpu/abi.h"

// Set by the device when it has loaded the image. Defined here, in the one source file of an image.
extern "C" {
__attribute__((visibility("default"))) evo_cpu_thread* evo_cpu_current = nullptr;
__attribute__((visibility("default"))) const evo_cpu_services* evo_cpu_runtime = nullptr;
}

// On functions of ours whose accesses are not the kernel's, or are told to the device in another way.
#ifdef EVO_CPU_CHECKED
#define EVO_CPU_UNCHECKED __attribute__((noinline, no_sanitize("thread")))
#include "evo_cpu/checks.h"
#else
#define EVO_CPU_UNCHECKED
#endif

namespace evo_cpu {
// To be called where an atomic operation happens, and at a fence.
EVO_CPU_UNCHECKED inline void TellAtomic([[maybe_unused]] const void* address, [[maybe_unused]] size_t bytes) {
#ifdef EVO_CPU_CHECKED
  Check(address, bytes, evo_cpu_atomic);
#endif
}
EVO_CPU_UNCHECKED inline void TellFence() {
#ifdef EVO_CPU_CHECKED
  evo_cpu_checker->fence();
#endif
}
}  // namespace evo_cpu

#undef __global__
#undef __device__
#undef __host__
#undef __constant__
#undef __forceinline__
#undef __noinline__
#undef __launch_bounds__
#undef __grid_constant__
#undef __restrict__
#undef __maxnreg__
#undef __cluster_dims__
#undef __managed__
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __grid_constant__
#define __restrict__ __restrict
#ifndef __align__
#define __align__(n) alignas(n)
#endif

// In CUDA's own types, so that a kernel can copy them: three unsigned integers as well.
#define threadIdx (reinterpret_cast<const uint3&>(evo_cpu_current->thread_index))
#define blockIdx (reinterpret_cast<const uint3&>(evo_cpu_current->block->block_index))
#define blockDim (reinterpret_cast<const dim3&>(evo_cpu_current->block->block_dim))
#define gridDim (reinterpret_cast<const dim3&>(evo_cpu_current->block->grid_dim))
static_assert(sizeof(uint3) == sizeof(evo_cpu_uint3) && sizeof(dim3) == sizeof(evo_cpu_uint3));
#define warpSize 32

#define EVO_CPU_PRAGMA(text) _Pragma(#text)
#define EVO_CPU_UNROLL(count) EVO_CPU_PRAGMA(GCC unroll count)

namespace evo_cpu {

template <typename T>
T& StaticShared(unsigned slot) {
  return *static_cast<T*>(evo_cpu_runtime->static_shared(slot, sizeof(T), alignof(T)));
}

template <typename T>
T* DynamicShared() {
  return static_cast<T*>(evo_cpu_current->block->dynamic_shared);
}

// Calls a __global__ function with arguments given by address.
template <typename Function>
struct Kernel;

template <typename... Arguments>
struct Kernel<void (*)(Arguments...)> {
  static constexpr size_t count = sizeof...(Arguments);
  static constexpr size_t bytes[count + 1] = {sizeof(Arguments)..., 0};

  template <size_t... I>
  EVO_CPU_UNCHECKED static void Call(void (*kernel)(Arguments...), void** arguments, std::index_sequence<I...>) {
    kernel(*static_cast<std::remove_reference_t<Arguments>*>(arguments[I])...);
  }
};

}  // namespace evo_cpu

// Placed behind the source by the compiler, once for each kernel that will be launched.
#define EVO_CPU_EXPORT(symbol, ...)                                                 \
  EVO_CPU_UNCHECKED static void symbol##_invoke(void** arguments) {                 \
    using Type = evo_cpu::Kernel<decltype(&__VA_ARGS__)>;                           \
    Type::Call(&__VA_ARGS__, arguments, std::make_index_sequence<Type::count>{});   \
  }                                                                                 \
  extern "C" __attribute__((visibility("default"))) const evo_cpu_kernel symbol = { \
      symbol##_invoke, evo_cpu::Kernel<decltype(&__VA_ARGS__)>::bytes, evo_cpu::Kernel<decltype(&__VA_ARGS__)>::count};

// Likewise, once for each variable that evo:constant fills.
#define EVO_CPU_VARIABLE(symbol, ...)                                                             \
  static_assert(!std::is_const_v<std::remove_all_extents_t<decltype(__VA_ARGS__)>>,               \
                "evo:constant: the variable is const; declare it as __constant__ without const"); \
  extern "C" __attribute__((visibility("default"))) const evo_cpu_variable symbol = {&__VA_ARGS__, sizeof(__VA_ARGS__)};

#include "evo_cpu/half_math.h"
#include "evo_cpu/intrinsics.h"
#include "evo_cpu/ptx.h"
#include "evo_cpu/special_functions.h"
#include "evo_cpu/warp.h"
