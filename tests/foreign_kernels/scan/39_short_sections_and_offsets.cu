// Sections of eight elements and their sums; the sums of sums come from elsewhere and are added by another kernel.
// buffers: X f32 in [N], O f32 in [(N + 7) / 8], Y f32 out [N], S f32 out [(N + 7) / 8]
// sizes: N=1; N=64; N=3001
// evo:launch of_sections(X, Y, S, N) grid(ceil_div(N, 8)) block(8) shared(32)
// evo:launch add_offsets(Y, O, N) grid(ceil_div(N, 8)) block(8)

__global__ void of_sections(const float *in, float *out, float *sums, int n) {
  extern __shared__ float s[];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int d = 1; d < blockDim.x; d <<= 1) {
    float left = t >= d ? s[t - d] : 0.0f;
    __syncthreads();
    s[t] += left;
    __syncthreads();
  }
  if (i < n) out[i] = s[t];
  if (t == 0) sums[blockIdx.x] = s[blockDim.x - 1];
}

__global__ void add_offsets(float *out, const float *offsets, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += offsets[blockIdx.x];
}
