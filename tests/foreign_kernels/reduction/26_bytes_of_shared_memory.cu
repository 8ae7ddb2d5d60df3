// buffers: X f32 in [N], Y f32 out [1]
// sizes: N=1; N=1000; N=30011
// evo:workspace part f32 [64]
// evo:launch squares(X, part, i64(N)) grid(64) block(256) shared(1024)
// evo:launch root(part, Y) grid(1) block(32)

__global__ void squares(const float* x, float* out, size_t n) {
  extern __shared__ unsigned char raw[];
  float* s = reinterpret_cast<float*>(raw);
  volatile float* vs = s;
  float acc = 0;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)blockDim.x * gridDim.x) {
    float v = x[i];
    acc += v * v;
  }
  s[threadIdx.x] = acc;
  __syncthreads();
  for (unsigned k = blockDim.x >> 1; k >= 32; k >>= 1) {
    if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x < 32) {
    float v = vs[threadIdx.x];
    v += __shfl_xor_sync(0xffffffff, v, 16);
    v += __shfl_xor_sync(0xffffffff, v, 8);
    v += __shfl_xor_sync(0xffffffff, v, 4);
    v += __shfl_xor_sync(0xffffffff, v, 2);
    v += __shfl_xor_sync(0xffffffff, v, 1);
    if (threadIdx.x == 0) out[blockIdx.x] = v;
  }
}

__global__ void root(const float* part, float* out) {
  float v = part[threadIdx.x] + part[threadIdx.x + 32];
  for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
  if (!threadIdx.x) *out = sqrtf(v);
}
