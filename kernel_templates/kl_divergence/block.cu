// The divergence of probabilities from others, one block a row: shuffles add up the terms. Where rows are multiples of four
// columns, a thread reads four at a time.
// evo:param THREADS 32 64 128 256 512 1024
// evo:param UNROLL 1 2 4 8
// evo:launch kl_divergence_block(P, log_Q, K, COLS) grid(ROWS) block(THREADS)

// Threads of a block.
#ifndef THREADS
#define THREADS 512
#endif

// Pairs of reads of a thread that are under way at a time.
#ifndef UNROLL
#define UNROLL 4
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;
constexpr unsigned kAllLanes = 0xffffffffu;

__device__ float Term(float p, float log_q) { return p > 0.0f ? p * (logf(p) - log_q) : 0.0f; }

// The sum over the threads of a block, for its first thread.
__device__ float BlockSum(float value) {
  __shared__ float sums[THREADS / 32];
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(kAllLanes, value, offset);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x >= 32) return 0.0f;
  value = threadIdx.x < THREADS / 32 ? sums[threadIdx.x] : 0.0f;
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(kAllLanes, value, offset);
  return value;
}

__global__ void __launch_bounds__(THREADS) kl_divergence_block(const float* __restrict__ P, const float* __restrict__ log_Q,
                                                               float* __restrict__ K, int columns) {
  const float* p = P + (long long)blockIdx.x * columns;
  const float* log_q = log_Q + (long long)blockIdx.x * columns;
  float sum = 0.0f;
  if (columns % 4 == 0) {
    const float4* p4 = reinterpret_cast<const float4*>(p);
    const float4* q4 = reinterpret_cast<const float4*>(log_q);
#pragma unroll kUnroll
    for (int c = threadIdx.x; c < columns / 4; c += THREADS) {
      const float4 a = p4[c];
      const float4 b = q4[c];
      sum += (Term(a.x, b.x) + Term(a.y, b.y)) + (Term(a.z, b.z) + Term(a.w, b.w));
    }
  } else {
#pragma unroll kUnroll
    for (int c = threadIdx.x; c < columns; c += THREADS) {
      sum += Term(p[c], log_q[c]);
    }
  }
  sum = BlockSum(sum);
  if (threadIdx.x == 0) K[blockIdx.x] = sum;
}
