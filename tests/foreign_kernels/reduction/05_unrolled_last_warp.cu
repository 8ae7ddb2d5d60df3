// buffers: X f32 in [N], Y f32 out [1]
// sizes: N=1; N=700; N=9001
// evo:workspace sums f32 [ceil_div(N, 512)]
// evo:launch reduce4(X, sums, N) grid(ceil_div(N, 512)) block(256)
// evo:launch addAll(sums, Y, ceil_div(N, 512)) grid(1) block(1)

// No barriers of the block within a warp, but those of the warp that are needed since Volta.
__device__ void warpReduce(volatile float *s, unsigned int t) {
  float v = s[t];
  v += s[t + 32]; __syncwarp();
  s[t] = v; __syncwarp();
  v += s[t + 16]; __syncwarp();
  s[t] = v; __syncwarp();
  v += s[t + 8]; __syncwarp();
  s[t] = v; __syncwarp();
  v += s[t + 4]; __syncwarp();
  s[t] = v; __syncwarp();
  v += s[t + 2]; __syncwarp();
  s[t] = v; __syncwarp();
  v += s[t + 1]; __syncwarp();
  s[t] = v;
}

__global__ void reduce4(const float *in, float *out, unsigned int n) {
  __shared__ float s[256];
  unsigned int t = threadIdx.x;
  unsigned int i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
  float v = i < n ? in[i] : 0.0f;
  if (i + blockDim.x < n) v += in[i + blockDim.x];
  s[t] = v;
  __syncthreads();
  for (unsigned int k = blockDim.x / 2; k > 32; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    __syncthreads();
  }
  if (t < 32) warpReduce(s, t);
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void addAll(const float *sums, float *y, int count) {
  float total = 0.0f;
  for (int k = 0; k < count; k++) total += sums[k];
  *y = total;
}
