// A grid-stride loop over the elements of the output, with indices of 64 bits.
// buffers: A f32 in [M, K], B f32 in [K, N], C f32 out [M, N]
// sizes: M=33 N=21 K=40; M=5 N=64 K=7
// evo:launch gemm_kernel(i64(M), i64(N), i64(K), A, B, C) grid(3) block(128)
__global__ void gemm_kernel(size_t m, size_t n, size_t k, const float* __restrict__ a, const float* __restrict__ b,
                            float* __restrict__ c) {
  for (size_t idx = blockIdx.x * blockDim.x + threadIdx.x; idx < m * n; idx += blockDim.x * gridDim.x) {
    size_t row = idx / n;
    size_t col = idx % n;
    float s = 0.0f;
    for (size_t l = 0; l < k; l++) {
      s += a[row * k + l] * b[l * n + col];
    }
    c[idx] = s;
  }
}
