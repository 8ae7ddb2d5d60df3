// buffers: X f32 in [M, N], G f32 in [N], B f32 in [N], Y f32 out [M, N], MEAN f32 out [M]
// sizes: M=1 N=1; M=7 N=300; M=3 N=1025
// evo:launch layer_norm(X, G, B, Y, MEAN, N) grid(M) block(256)

__inline__ __device__ float warp_sum(float v) {
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) v += __shfl_xor_sync(0xffffffff, v, mask, 32);
  return v;
}

__inline__ __device__ float block_sum(float v) {
  static __shared__ float shared[32];
  int lane = threadIdx.x & 0x1f;
  int wid = threadIdx.x >> 5;
  v = warp_sum(v);
  if (lane == 0) shared[wid] = v;
  __syncthreads();
  v = (threadIdx.x < (blockDim.x / 32.f)) ? shared[lane] : 0.0f;
  v = warp_sum(v);
  return v;
}

// Shuffles by functions; the first thread leaves what the others read.
__global__ void layer_norm(const float *in, const float *gamma, const float *beta, float *out, float *means, int n) {
  __shared__ float s_mean, s_scale;
  int tid = threadIdx.x;
  float sum = 0.f;
  for (int i = tid; i < n; i += blockDim.x) sum += in[blockIdx.x * n + i];
  float mean = block_sum(sum);
  if (tid == 0) {
    s_mean = mean / n;
    means[blockIdx.x] = s_mean;
  }
  __syncthreads();
  float variance = 0.f;
  for (int i = tid; i < n; i += blockDim.x) {
    float d = in[blockIdx.x * n + i] - s_mean;
    variance += d * d;
  }
  variance = block_sum(variance);
  if (tid == 0) s_scale = rsqrtf(variance / n + 1e-5f);
  __syncthreads();
  for (int i = tid; i < n; i += blockDim.x)
    out[blockIdx.x * n + i] = (in[blockIdx.x * n + i] - s_mean) * s_scale * gamma[i] + beta[i];
}
