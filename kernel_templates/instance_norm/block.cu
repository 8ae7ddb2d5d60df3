// Instance norm, one block a plane: shuffles add up the elements, then the squares of their differences to the mean. Where planes
// are multiples of four elements, a thread reads and writes four at a time.
// evo:param THREADS 32 64 128 256 512 1024
// evo:param UNROLL 1 2 4 8
// evo:launch instance_norm_block(X, gamma, beta, Y, eps, C, H * W) grid(N * C) block(THREADS)

// Threads of a block.
#ifndef THREADS
#define THREADS 512
#endif

// Reads of a thread that are under way at a time.
#ifndef UNROLL
#define UNROLL 4
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;
constexpr unsigned kAllLanes = 0xffffffffu;

// The sum over the threads of a block, returned to each of them.
__device__ float BlockSum(float value, float* sums) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(kAllLanes, value, offset);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  __syncthreads();
  value = 0.0f;
  for (int warp = 0; warp < THREADS / 32; ++warp) value += sums[warp];
  return value;
}

__global__ void __launch_bounds__(THREADS) instance_norm_block(const float* __restrict__ X, const float* __restrict__ gamma,
                                                               const float* __restrict__ beta, float* __restrict__ Y, float eps,
                                                               int channels, int pixels) {
  __shared__ float sums[THREADS / 32];
  __shared__ float sums_of_squares[THREADS / 32];
  const float* x = X + (long long)blockIdx.x * pixels;
  float* y = Y + (long long)blockIdx.x * pixels;
  const float4* x4 = reinterpret_cast<const float4*>(x);
  const bool vectors = pixels % 4 == 0;

  float sum = 0.0f;
  if (vectors) {
#pragma unroll kUnroll
    for (int i = threadIdx.x; i < pixels / 4; i += THREADS) {
      const float4 v = x4[i];
      sum += (v.x + v.y) + (v.z + v.w);
    }
  } else {
#pragma unroll kUnroll
    for (int i = threadIdx.x; i < pixels; i += THREADS) {
      sum += x[i];
    }
  }
  const float mean = BlockSum(sum, sums) / pixels;

  float squares = 0.0f;
  if (vectors) {
#pragma unroll kUnroll
    for (int i = threadIdx.x; i < pixels / 4; i += THREADS) {
      const float4 v = x4[i];
      const float4 d = make_float4(v.x - mean, v.y - mean, v.z - mean, v.w - mean);
      squares += (d.x * d.x + d.y * d.y) + (d.z * d.z + d.w * d.w);
    }
  } else {
#pragma unroll kUnroll
    for (int i = threadIdx.x; i < pixels; i += THREADS) {
      squares += (x[i] - mean) * (x[i] - mean);
    }
  }
  const float variance = BlockSum(squares, sums_of_squares) / pixels;
  const float factor = gamma[blockIdx.x % channels] / sqrtf(variance + eps);
  const float term = beta[blockIdx.x % channels];

  if (vectors) {
#pragma unroll kUnroll
    for (int i = threadIdx.x; i < pixels / 4; i += THREADS) {
      const float4 v = x4[i];
      reinterpret_cast<float4*>(y)[i] = make_float4((v.x - mean) * factor + term, (v.y - mean) * factor + term,
                                                    (v.z - mean) * factor + term, (v.w - mean) * factor + term);
    }
  } else {
#pragma unroll kUnroll
    for (int i = threadIdx.x; i < pixels; i += THREADS) {
      y[i] = (x[i] - mean) * factor + term;
    }
  }
}
