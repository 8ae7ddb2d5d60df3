// What CUDA's headers declare but clang's replacements for those headers lack: loads and stores with cache hints, and reductions of
// a warp. For parsing only, so without bodies.
#pragma once

// nvcc knows assert without an include.
#include <assert.h>

#ifdef __CUDA__
template <class T>
__device__ T __ldcg(const T* address);
template <class T>
__device__ T __ldca(const T* address);
template <class T>
__device__ T __ldcs(const T* address);
template <class T>
__device__ T __ldlu(const T* address);
template <class T>
__device__ T __ldcv(const T* address);
template <class T>
__device__ void __stwb(T* address, T value);
template <class T>
__device__ void __stcg(T* address, T value);
template <class T>
__device__ void __stcs(T* address, T value);
template <class T>
__device__ void __stwt(T* address, T value);
__device__ unsigned __reduce_add_sync(unsigned mask, unsigned value);
__device__ unsigned __reduce_min_sync(unsigned mask, unsigned value);
__device__ unsigned __reduce_max_sync(unsigned mask, unsigned value);
__device__ int __reduce_add_sync(unsigned mask, int value);
__device__ int __reduce_min_sync(unsigned mask, int value);
__device__ int __reduce_max_sync(unsigned mask, int value);
__device__ unsigned __reduce_and_sync(unsigned mask, unsigned value);
__device__ unsigned __reduce_or_sync(unsigned mask, unsigned value);
__device__ unsigned __reduce_xor_sync(unsigned mask, unsigned value);
__device__ void __nanosleep(unsigned nanoseconds);
#endif
