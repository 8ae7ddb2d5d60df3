// Loads and stores with cache hints that CUDA's headers declare but clang's replacements for those headers lack. For parsing
// only, so without bodies.
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
#endif
