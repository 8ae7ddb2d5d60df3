// buffers: K u32<100 in [N], W f32 in [N], Y f32 out [100]
// sizes: N=1; N=1000; N=9001
// evo:memset Y 0
// evo:launch weighted(K, W, N, Y, 100) grid(ceil_div(N, 128)) block(128)

__global__ void weighted(const unsigned int* key, const float* weight, int n, float* out, int bins) {
  __shared__ float s[128];
  for (int b = threadIdx.x; b < bins; b += blockDim.x) s[b] = 0.f;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&s[key[i]], weight[i]);
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += blockDim.x) {
    if (s[b] != 0.f) atomicAdd(&out[b], s[b]);
  }
}
