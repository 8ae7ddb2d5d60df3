// Pointers that move along a row and a column, a loop that counts down, __ldg.
// buffers: A f32 in [M, K], B f32 in [K, N], C f32 out [M, N]
// sizes: M=33 N=21 K=40; M=5 N=64 K=7
// evo:launch sgemm_naive(C, A, B, M, N, K) grid(ceil_div(N, 32), ceil_div(M, 8)) block(32, 8)
__global__ void sgemm_naive(float* C, const float* A, const float* B, unsigned M, unsigned N, unsigned K) {
  const unsigned col = blockIdx.x * 32 + threadIdx.x;
  const unsigned row = blockIdx.y * 8 + threadIdx.y;
  if (row < M && col < N) {
    const float* a = A + row * K;
    const float* b = B + col;
    float dot = 0.0f;
    for (unsigned left = K; left > 0; --left) {
      dot = fmaf(__ldg(a), __ldg(b), dot);
      ++a;
      b += N;
    }
    C[row * N + col] = dot;
  }
}
