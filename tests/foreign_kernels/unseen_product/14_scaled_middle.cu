// A times a diagonal times B by a lambda and __ldg; batches by pointer offsets, a loop over the elements of a batch.
// buffers: A f32 in [B, M, K], D f32 in [K], W f32 in [K, N], C f32 out [B, M, N]
// sizes: B=2 M=33 N=24 K=40; B=1 M=16 N=70 K=16; B=3 M=5 N=2 K=3
// evo:launch adb(A, D, W, C, M, N, K) grid(4, B) block(128)
__global__ void adb(const float* __restrict__ a, const float* __restrict__ d, const float* __restrict__ w, float* __restrict__ c,
                    int m, int n, int k) {
  const float* a_b = a + static_cast<size_t>(blockIdx.y) * m * k;
  float* c_b = c + static_cast<size_t>(blockIdx.y) * m * n;
  auto term = [&](int i, int j, int l) { return __ldg(&a_b[i * k + l]) * __ldg(&d[l]) * __ldg(&w[l * n + j]); };
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < m * n; e += gridDim.x * blockDim.x) {
    const int i = e / n, j = e % n;
    float sum = 0.0f;
    for (int l = 0; l < k; ++l) sum += term(i, j, l);
    c_b[e] = sum;
  }
}
