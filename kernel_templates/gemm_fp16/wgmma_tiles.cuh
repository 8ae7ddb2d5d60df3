// Shared by the templates of matrix products for Hopper, which define what stands in capitals here. If LINEAR, B has a row for
// each column of C, as the weights of a layer have, and C is GELU of the sums and a bias.
#pragma once
#include "wgmma_operations.cuh"

// Groups of 128 threads that multiply. Each has half of a tile's rows, 64 for each product. One more group copies.
constexpr int kGroups = 2;
constexpr int kThreads = 128 * (kGroups + 1);
constexpr int kParts = BLOCK_M / kGroups / 64;
// Registers of a thread after they are reassigned. In sum they may not exceed what all had at the start, 168 for each thread.
constexpr int kProducerRegisters = 40;
constexpr int kConsumerRegisters = 232;

// Tiles lie in panels of 64 elements, 128 bytes, the width of the swizzle. A has rows of k; B has rows of columns of C, or of k
// if LINEAR.
constexpr int kRowsB = LINEAR ? BLOCK_N : BLOCK_K;
constexpr int kPanelsA = BLOCK_K / 64;
constexpr int kPanelsB = (LINEAR ? BLOCK_K : BLOCK_N) / 64;
constexpr int kPanelA = BLOCK_M * kRowBytes;
constexpr int kPanelB = kRowsB * kRowBytes;
constexpr int kBytesA = kPanelsA * kPanelA;
constexpr int kStage = kBytesA + kPanelsB * kPanelB;
// Where a warp collects 16 rows of 64 results before it stores them.
constexpr int kStaged = 16 * kRowBytes;

// The blocks of a cluster need the same part of the larger operand; each brings a share of it to all.
constexpr bool kSharesB = CLUSTER > 1 && BLOCK_N >= BLOCK_M;
constexpr bool kSharesA = CLUSTER > 1 && !kSharesB;
constexpr int kClusterM = kSharesB ? CLUSTER : 1;
constexpr int kClusterN = kSharesA ? CLUSTER : 1;

// A place in the ring of stages, and the parity of its barriers' phases.
struct Place {
  int index = 0;
  unsigned parity = 0;

  __device__ __forceinline__ void Advance() {
    if (++index == STAGES) {
      index = 0;
      parity ^= 1;
    }
  }
};

// The block's tiles of C, one after the other: GROUP rows of tiles, column by column, so that blocks that run at a time share
// rows and columns, which then stay in L2. The tiles of a cluster lie beside each other.
struct Schedule {
  const int rank;  // in the cluster
  const int clusters_m;
  const int clusters_n;
  int next;
  int row = 0;  // the present tile's first row and column
  int column = 0;

  __device__ __forceinline__ Schedule(int rows, int columns)
      : rank(blockIdx.x % CLUSTER),
        clusters_m((rows + BLOCK_M * kClusterM - 1) / (BLOCK_M * kClusterM)),
        clusters_n((columns + BLOCK_N * kClusterN - 1) / (BLOCK_N * kClusterN)),
        next(blockIdx.x / CLUSTER) {}

  __device__ __forceinline__ bool Next() {
    if (next >= clusters_m * clusters_n) return false;
    const int group = next / (GROUP * clusters_n);
    const int height = min(GROUP, clusters_m - group * GROUP);
    const int within = next - group * GROUP * clusters_n;
    row = ((group * GROUP + within % height) * kClusterM + (kSharesB ? rank : 0)) * BLOCK_M;
    column = (within / height * kClusterN + (kSharesA ? rank : 0)) * BLOCK_N;
    next += gridDim.x / CLUSTER;
    return true;
  }
};

// Shared memory, by address: the stages, what warps collect, and the barriers. A stage has one that copies complete and one at
// which every warp of the cluster that multiplies arrives when it is done.
struct Layout {
  const unsigned base;

  __device__ __forceinline__ unsigned A(int stage) const { return base + stage * kStage; }
  __device__ __forceinline__ unsigned B(int stage) const { return base + stage * kStage + kBytesA; }
  __device__ __forceinline__ unsigned Staged(int warp) const { return base + STAGES * kStage + warp * kStaged; }
  __device__ __forceinline__ unsigned Full(int stage) const { return Staged(4 * kGroups) + stage * 8; }
  __device__ __forceinline__ unsigned Free(int stage) const { return Full(STAGES) + stage * 8; }
};

// Run by one thread: starts every copy as soon as there is room.
__device__ __forceinline__ void Produce(const Layout& at, const TensorMap* A_map, const TensorMap* B_map, Schedule schedule,
                                        int depth) {
  constexpr int kShareRowsA = kSharesA ? BLOCK_M / CLUSTER : BLOCK_M;
  constexpr int kShareRowsB = kSharesB ? kRowsB / CLUSTER : kRowsB;
  const int part_a = kSharesA ? schedule.rank * kShareRowsA : 0;
  const int part_b = kSharesB ? schedule.rank * kShareRowsB : 0;
  Place place;
  while (schedule.Next()) {
    // The blocks of a cluster have one first row or column of the operand that they share.
    for (int k = 0; k < depth; k += BLOCK_K) {
      Wait(at.Free(place.index), place.parity ^ 1);
      Expect(at.Full(place.index), kStage);
#pragma unroll
      for (int p = 0; p < kPanelsA; ++p) {
        CopyPanel<kSharesA>(at.A(place.index) + p * kPanelA + part_a * kRowBytes, A_map, k + p * 64, schedule.row + part_a,
                            at.Full(place.index));
      }
#pragma unroll
      for (int p = 0; p < kPanelsB; ++p) {
        const int column = LINEAR ? k + p * 64 : schedule.column + p * 64;
        const int row = LINEAR ? schedule.column : k;
        CopyPanel<kSharesB>(at.B(place.index) + p * kPanelB + part_b * kRowBytes, B_map, column, row + part_b,
                            at.Full(place.index));
      }
      place.Advance();
    }
  }
}

// Starts sums (+)= a group's rows of a stage times its columns.
__device__ __forceinline__ void StartProducts(float (&sums)[kParts][BLOCK_N / 2], unsigned a, unsigned b, bool adds) {
  const unsigned left = LowWord(a, 16), right = LowWord(b, LINEAR ? 16 : kPanelB);
  BeginProducts();
#pragma unroll
  for (int k = 0; k < BLOCK_K / 16; ++k) {
    // 16 elements of a row are 32 bytes; 16 rows are 2 * kSwizzleBytes.
    const int along = k % 4 * 2;
    const int down = k * (2 * kSwizzleBytes >> 4);
    const unsigned long long b_part = Descriptor(right + (LINEAR ? (k / 4 * kPanelB >> 4) + along : down));
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      Multiply(sums[part], Descriptor(left + ((k / 4 * kPanelA + part * 64 * kRowBytes) >> 4) + along), b_part, adds || k > 0);
    }
  }
  CommitProducts();
}

// 16 bytes of shared memory by their address.
__device__ __forceinline__ uint4 LoadVector(unsigned from) {
  extern __shared__ uint4 shared_memory[];
  return *reinterpret_cast<const uint4*>(reinterpret_cast<const char*>(shared_memory) + (from - SharedAddress(shared_memory)));
}

// Stores eight neighbouring elements of C, those that are inside.
__device__ __forceinline__ void StoreEight(const uint4& eight, Element* C, int row, int column, int rows, int columns) {
  if (row >= rows) return;
  Element* to = C + static_cast<long long>(row) * columns + column;
  if (columns % 8 == 0) {
    if (column < columns) *reinterpret_cast<uint4*>(to) = eight;
  } else {
    const unsigned words[4] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const unsigned short bits = words[i / 2] >> i % 2 * 16 & 0xffff;
      if (column + i < columns) reinterpret_cast<unsigned short*>(to)[i] = bits;
    }
  }
}

// Stores 16 rows of a warp, 64 columns at a time by way of shared memory, so that a lane has 16 bytes of a row and eight lanes
// 128.
__device__ __forceinline__ void StoreRows(const float (&sums)[BLOCK_N / 2], unsigned staged, Element* C, int row, int column,
                                          int rows, int columns) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int c = 0; c < BLOCK_N; c += 64) {
#pragma unroll
    for (int j = 0; j < 64; j += 16) {
      unsigned pairs[4];  // rows lane / 4 and 8 further, of two times 8 columns
#pragma unroll
      for (int i = 0; i < 4; ++i) pairs[i] = Pack(sums[(c + j) / 2 + 2 * i], sums[(c + j) / 2 + 2 * i + 1]);
      StoreMatrices(staged + Swizzled(lane % 16, j / 8 + lane / 16), pairs);
    }
    __syncwarp();
#pragma unroll
    for (int r = 0; r < 16; r += 4) {
      const int line = r + lane / 8;
      StoreEight(LoadVector(staged + Swizzled(line, lane % 8)), C, row + line, column + c + lane % 8 * 8, rows, columns);
    }
    __syncwarp();  // all lanes have read before the next columns replace these
  }
}

// The same with bias and GELU, 32 columns at a time, which are still floats in shared memory: four of eight neighbours with even
// numbers, then the odd ones. A loop that is not unrolled computes GELU, which would take too many registers beside the sums.
__device__ __forceinline__ void StoreActivated(const float (&sums)[BLOCK_N / 2], unsigned staged, const Element* bias, Element* C,
                                               int row, int column, int rows, int columns) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int c = 0; c < BLOCK_N; c += 32) {
#pragma unroll
    for (int j = 0; j < 32; j += 8) {
      const float* eight = sums + (c + j) / 2;
      const unsigned words[4] = {__float_as_uint(eight[0]), __float_as_uint(eight[2]), __float_as_uint(eight[1]),
                                 __float_as_uint(eight[3])};
      StoreMatrices(staged + Swizzled(lane % 16, j / 4 + lane / 16), words);
    }
    __syncwarp();
#pragma unroll 1
    for (int line = lane / 4; line < 16; line += 8) {
      const uint4 even = LoadVector(staged + Swizzled(line, lane % 4 * 2)),
                  odd = LoadVector(staged + Swizzled(line, lane % 4 * 2 + 1));
      const int first = column + c + lane % 4 * 8;
      const auto pair = [&](unsigned low, unsigned high, int at) {
        return Pack(Gelu(__uint_as_float(low) + ToFloat(bias[min(at, columns - 1)])),
                    Gelu(__uint_as_float(high) + ToFloat(bias[min(at + 1, columns - 1)])));
      };
      const uint4 eight = make_uint4(pair(even.x, odd.x, first), pair(even.y, odd.y, first + 2), pair(even.z, odd.z, first + 4),
                                     pair(even.w, odd.w, first + 6));
      StoreEight(eight, C, row + line, first, rows, columns);
    }
    __syncwarp();
  }
}

// Run by a group that multiplies.
__device__ __forceinline__ void Consume(const Layout& at, int group, Schedule schedule, const Element* bias, Element* C, int rows,
                                        int columns, int depth) {
  const int warp = threadIdx.x / 32;
  float sums[kParts][BLOCK_N / 2];
  Place place;
  while (schedule.Next()) {
    int before = 0;
    for (int k = 0; k < depth; k += BLOCK_K) {
      Wait(at.Full(place.index), place.parity);
      StartProducts(sums, at.A(place.index) + group * kParts * 64 * kRowBytes, at.B(place.index), k > 0);
      WaitForProducts<1>();
      if (k > 0) ArriveFromWarp(at.Free(before));
      before = place.index;
      place.Advance();
    }
    WaitForProducts<0>();
    ArriveFromWarp(at.Free(before));
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      PinRegisters(sums[part]);
      const int row = schedule.row + (group * kParts + part) * 64 + warp % 4 * 16;
      if constexpr (LINEAR) {
        StoreActivated(sums[part], at.Staged(warp), bias, C, row, schedule.column, rows, columns);
      } else {
        StoreRows(sums[part], at.Staged(warp), C, row, schedule.column, rows, columns);
      }
    }
  }
}

// All tiles of the block. `bias` is read if LINEAR.
__device__ __forceinline__ void ComputeTiles(const TensorMap* A_map, const TensorMap* B_map, const Element* bias, Element* C,
                                             int rows, int columns, int depth) {
  extern __shared__ uint4 shared_memory[];
  // The swizzle needs an address that is a multiple of its size.
  const Layout at{(SharedAddress(shared_memory) + kSwizzleBytes - 1) / kSwizzleBytes * kSwizzleBytes};
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      InitBarrier(at.Full(s), 1);
      InitBarrier(at.Free(s), 4 * kGroups * CLUSTER);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // the copy engine sees them too
  }
  SyncCluster();
  // The shuffle tells the compiler that the number is the same for a warp.
  const int group = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x / 128), 0);
  const Schedule schedule(rows, columns);
  if (group == kGroups) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kProducerRegisters));
    if (threadIdx.x == kGroups * 128) Produce(at, A_map, B_map, schedule, depth);
    __syncwarp();
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kConsumerRegisters));
    Consume(at, group, schedule, bias, C, rows, columns, depth);
  }
  if (CLUSTER > 1) SyncCluster();  // a block that ends must not be written to any more
}

// Copies a matrix to rows of a multiple of 8 elements, as a tensor map needs them, with zeros at their ends.
__global__ void __launch_bounds__(256)
    pad_rows(const Element* __restrict__ from, unsigned short* __restrict__ to, int rows, int columns, int padded) {
  const int column = blockIdx.x * 256 + threadIdx.x;
  if (column >= padded) return;
  for (int row = blockIdx.y; row < rows; row += gridDim.y) {
    const Element value = column < columns ? from[static_cast<long long>(row) * columns + column] : Element(0.0f);
    to[static_cast<long long>(row) * padded + column] = *reinterpret_cast<const unsigned short*>(&value);
  }
}
