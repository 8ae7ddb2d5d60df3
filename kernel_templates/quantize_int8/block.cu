// Rows in fp16 to integers of 8 bits, one block a row: shuffles find the largest magnitude, and a product replaces the division.
// Where rows are multiples of eight columns, a thread reads and writes eight at a time.
#include <cuda_fp16.h>
// evo:param THREADS 32 64 128 256 512 1024
// evo:param UNROLL 1 2 4
// evo:launch quantize_int8_block(X, Q, S, COLS) grid(ROWS) block(THREADS)

// Threads of a block.
#ifndef THREADS
#define THREADS 256
#endif

// Reads of a thread that are under way at a time.
#ifndef UNROLL
#define UNROLL 2
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;
constexpr unsigned kAllLanes = 0xffffffffu;

// The largest of the threads' values, returned to each of them.
__device__ float BlockMaximum(float value) {
  __shared__ float largest_of_warp[THREADS / 32];
  for (int offset = 16; offset > 0; offset /= 2) value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, offset));
  if (threadIdx.x % 32 == 0) largest_of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  for (int warp = 0; warp < THREADS / 32; ++warp) value = fmaxf(value, largest_of_warp[warp]);
  return value;
}

__device__ unsigned Quantized(half value, float inverse) {
  return (unsigned char)(signed char)rintf(__half2float(value) * inverse);
}

__global__ void __launch_bounds__(THREADS) quantize_int8_block(const half* __restrict__ X, signed char* __restrict__ Q,
                                                               float* __restrict__ S, int columns) {
  const half* x = X + (long long)blockIdx.x * columns;
  signed char* q = Q + (long long)blockIdx.x * columns;
  const bool vectors = columns % 8 == 0;
  const int count = vectors ? columns / 8 : columns;

  float largest = 0.0f;
  if (vectors) {
#pragma unroll kUnroll
    for (int c = threadIdx.x; c < count; c += THREADS) {
      const uint4 bits = reinterpret_cast<const uint4*>(x)[c];
      const half* values = reinterpret_cast<const half*>(&bits);
#pragma unroll
      for (int k = 0; k < 8; ++k) largest = fmaxf(largest, fabsf(__half2float(values[k])));
    }
  } else {
#pragma unroll kUnroll
    for (int c = threadIdx.x; c < count; c += THREADS) {
      largest = fmaxf(largest, fabsf(__half2float(x[c])));
    }
  }
  largest = BlockMaximum(largest);
  if (threadIdx.x == 0) S[blockIdx.x] = largest / 127.0f;
  const float inverse = largest > 0.0f ? 127.0f / largest : 0.0f;

  if (vectors) {
#pragma unroll kUnroll
    for (int c = threadIdx.x; c < count; c += THREADS) {
      const uint4 bits = reinterpret_cast<const uint4*>(x)[c];
      const half* values = reinterpret_cast<const half*>(&bits);
      uint2 packed = make_uint2(0, 0);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        packed.x |= Quantized(values[k], inverse) << 8 * k;
        packed.y |= Quantized(values[k + 4], inverse) << 8 * k;
      }
      reinterpret_cast<uint2*>(q)[c] = packed;
    }
  } else {
#pragma unroll kUnroll
    for (int c = threadIdx.x; c < count; c += THREADS) {
      q[c] = (signed char)rintf(__half2float(x[c]) * inverse);
    }
  }
}
