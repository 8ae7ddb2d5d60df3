// buffers: LOGITS f32 in [M, N], T i32<1 in [M], L f32 out [M]
// sizes: M=1 N=1; M=7 N=300; M=3 N=1025
// evo:launch cross_entropy_block(LOGITS, T, L, N) grid(M) block(256)

__device__ float larger(float a, float b) { return a > b ? a : b; }

template <bool largest>
__device__ float of_both(float a, float b) {
  return largest ? larger(a, b) : a + b;
}

template <bool largest>
__device__ float over_block(float v) {
  __shared__ float of_warps[32];
  const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
  for (int offset = 16; offset > 0; offset /= 2) v = of_both<largest>(v, __shfl_xor_sync(0xffffffff, v, offset));
  __syncthreads();
  if (lane == 0) of_warps[warp] = v;
  __syncthreads();
  v = lane < blockDim.x / warpSize ? of_warps[lane] : largest ? -INFINITY : 0.f;
  for (int offset = 16; offset > 0; offset /= 2) v = of_both<largest>(v, __shfl_xor_sync(0xffffffff, v, offset));
  return v;
}

// One thread stores what the block has found.
__global__ void cross_entropy_block(const float *logits, const int *targets, float *losses, int classes) {
  const float *row = logits + (size_t)blockIdx.x * classes;
  float largest = -INFINITY;
  for (int c = threadIdx.x; c < classes; c += blockDim.x) largest = fmaxf(largest, row[c]);
  largest = over_block<true>(largest);
  float sum = 0.f;
  for (int c = threadIdx.x; c < classes; c += blockDim.x) sum += expf(row[c] - largest);
  sum = over_block<false>(sum);
  if (threadIdx.x != 0) return;
  losses[blockIdx.x] = logf(sum) + largest - row[targets[blockIdx.x]];
}
