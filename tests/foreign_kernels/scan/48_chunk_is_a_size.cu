// Reduce, scan the sums in rounds, scan again: how long a chunk is, the host says.
// buffers: X f32 in [N], Y f32 out [N]
// sizes: N=1 CHUNK=64; N=1000 CHUNK=100; N=20000 CHUNK=128
// evo:workspace sums f32 [ceil_div(N, CHUNK)]
// evo:launch reduce_chunks(X, sums, N, CHUNK) grid(ceil_div(N, CHUNK)) block(64)
// evo:launch scan_chunks(sums, ceil_div(N, CHUNK)) grid(1) block(64)
// evo:launch scan_again(X, sums, Y, N, CHUNK) grid(ceil_div(N, CHUNK)) block(64)

__device__ float block_scan(float value, float& total) {
  __shared__ float s[64];
  s[threadIdx.x] = value;
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    const float left = threadIdx.x >= d ? s[threadIdx.x - d] : 0.0f;
    __syncthreads();
    s[threadIdx.x] += left;
    __syncthreads();
  }
  const float mine = s[threadIdx.x];
  total = s[63];
  __syncthreads();
  return mine;
}

__global__ void reduce_chunks(const float* x, float* sums, int n, int chunk) {
  const int begin = blockIdx.x * chunk, end = min(begin + chunk, n);
  float sum = 0.0f, total;
  for (int i = begin + threadIdx.x; i < end; i += 64) sum += x[i];
  block_scan(sum, total);
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

__global__ void scan_chunks(float* sums, int n) {
  float carry = 0.0f;
  for (int base = 0; base < n; base += 64) {
    const int i = base + threadIdx.x;
    const float value = i < n ? sums[i] : 0.0f;
    float total;
    const float mine = block_scan(value, total);
    if (i < n) sums[i] = carry + mine - value;
    carry += total;
  }
}

__global__ void scan_again(const float* x, const float* sums, float* y, int n, int chunk) {
  const int begin = blockIdx.x * chunk, end = min(begin + chunk, n);
  float carry = sums[blockIdx.x];
  for (int base = begin; base < end; base += 64) {
    const int i = base + threadIdx.x;
    float total;
    const float mine = block_scan(i < end ? x[i] : 0.0f, total);
    if (i < end) y[i] = carry + mine;
    carry += total;
  }
}
