// Unrolled by hand by four, with a loop for what is left.
// buffers: A f32 in [M, K], B f32 in [K, N], C f32 out [M, N]
// sizes: M=33 N=21 K=42; M=5 N=64 K=7
// evo:launch matmul_unroll4(A, B, C, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void matmul_unroll4(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N,
                               int K) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= N) return;
  if (y >= M) return;
  float tmp = 0.0f;
  int k = 0;
  for (; k + 3 < K; k += 4) {
    tmp += A[y * K + k] * B[k * N + x];
    tmp += A[y * K + k + 1] * B[(k + 1) * N + x];
    tmp += A[y * K + k + 2] * B[(k + 2) * N + x];
    tmp += A[y * K + k + 3] * B[(k + 3) * N + x];
  }
  for (; k < K; ++k) tmp += A[y * K + k] * B[k * N + x];
  C[y * N + x] = tmp;
}
