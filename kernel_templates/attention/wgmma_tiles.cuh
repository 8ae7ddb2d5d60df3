// Shared by wgmma_short.cu and wgmma_split.cu, which take 64 keys at a time and whose rows all have 64 elements.
#pragma once
#include "wgmma_parts.cuh"

constexpr int kTileKeys = 64;
constexpr int kRowBytes = 128;

// Describes rows of 128 bytes with the 128-byte swizzle to the tensor cores.
__device__ __forceinline__ unsigned long long Descriptor(unsigned address) {
  constexpr unsigned kHigh = 1u << 30 | kSwizzleBytes >> 4;
  unsigned long long descriptor;
  asm("mov.b64 %0, {%1, %2};" : "=l"(descriptor) : "r"(1u << 16 | address >> 4), "n"(kHigh));
  return descriptor;
}

// Barriers in shared memory, 8 bytes each, by address.
__device__ __forceinline__ void InitBarrier(unsigned barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
}

// Brings a box that is all that the barrier waits for.
__device__ __forceinline__ void Copy(unsigned to, const TensorMap* map, int row, int head, unsigned barrier, unsigned bytes) {
  Expect(barrier, bytes);
  CopyBox(to, map, 0, row, head, barrier);
}
