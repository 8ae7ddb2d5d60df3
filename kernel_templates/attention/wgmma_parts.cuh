// Shared by wgmma.cu, wgmma_short.cu and wgmma_split.cu: copies of the rows of a head, and powers.
#pragma once
#include "warp_groups.cuh"

constexpr float kLog2E = 1.44269504f;

// Brings a box of rows, from `column` and `row` of a head on, to shared memory and tells the barrier; rows past the end arrive as zeros.
__device__ __forceinline__ void CopyBox(unsigned to, const TensorMap* map, int column, int row, int head, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(column), "r"(row), "r"(head)
      : "memory");
}

__device__ __forceinline__ float Exp2(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
