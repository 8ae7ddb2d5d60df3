// evo:launch product(A, B, C, M, N, K) grid(ceil_div(M, 16), ceil_div(N, 16)) block(16, 16)
__global__ void product(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, unsigned M, unsigned N,
                        unsigned K) {
  const unsigned tx = threadIdx.x, ty = threadIdx.y;
  const unsigned m = blockIdx.x * 16 + tx;
  const unsigned n = blockIdx.y * 16 + ty;
  if (m >= M) return;
  if (n >= N) return;
  const float* a = A + m * K;
  const float* b = &B[n];
  float sum = 0.0f;
  for (unsigned k = 0; k < K; ++k) {
    // One product.
    const float left = a[k];
    const float right = __ldg(&b[k * N]);
    sum = fmaf(left, right, sum);
  }
  // Neighbouring threads store far apart.
  float* c = C + m * N;
  c[n] = sum;
}
