// RMS norm, one block a row: shuffles add up the squares, and a product replaces the division. Where rows are multiples of four
// columns, a thread reads and writes four at a time.
// evo:param THREADS 32 64 128 256 512 1024
// evo:param UNROLL 1 2 4 8
// evo:launch rms_norm_block(X, gamma, Y, eps, COLS) grid(ROWS) block(THREADS)

// Threads of a block.
#ifndef THREADS
#define THREADS 256
#endif

// Reads of a thread that are under way at a time.
#ifndef UNROLL
#define UNROLL 4
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;
constexpr unsigned kAllLanes = 0xffffffffu;

// The sum over the threads of a block, returned to each of them.
__device__ float BlockSum(float value) {
  __shared__ float sums[THREADS / 32];
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(kAllLanes, value, offset);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  __syncthreads();
  value = 0.0f;
  for (int warp = 0; warp < THREADS / 32; ++warp) value += sums[warp];
  return value;
}

__global__ void __launch_bounds__(THREADS) rms_norm_block(const float* __restrict__ X, const float* __restrict__ gamma,
                                                          float* __restrict__ Y, float eps, int columns) {
  const float* x = X + (long long)blockIdx.x * columns;
  float* y = Y + (long long)blockIdx.x * columns;
  const float4* x4 = reinterpret_cast<const float4*>(x);
  const float4* gamma4 = reinterpret_cast<const float4*>(gamma);
  const bool vectors = columns % 4 == 0;

  float squares = 0.0f;
  if (vectors) {
#pragma unroll kUnroll
    for (int c = threadIdx.x; c < columns / 4; c += THREADS) {
      const float4 v = x4[c];
      squares += (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w);
    }
  } else {
#pragma unroll kUnroll
    for (int c = threadIdx.x; c < columns; c += THREADS) {
      squares += x[c] * x[c];
    }
  }
  const float inverse = rsqrtf(BlockSum(squares) / columns + eps);

  if (vectors) {
#pragma unroll kUnroll
    for (int c = threadIdx.x; c < columns / 4; c += THREADS) {
      const float4 v = x4[c];
      const float4 g = gamma4[c];
      reinterpret_cast<float4*>(y)[c] =
          make_float4(v.x * inverse * g.x, v.y * inverse * g.y, v.z * inverse * g.z, v.w * inverse * g.w);
    }
  } else {
#pragma unroll kUnroll
    for (int c = threadIdx.x; c < columns; c += THREADS) {
      y[c] = x[c] * inverse * gamma[c];
    }
  }
}
