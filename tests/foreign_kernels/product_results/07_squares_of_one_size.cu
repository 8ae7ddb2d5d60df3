// One size for all three, whole tiles of 32 rows and columns; a thread has four by two sums.
// buffers: A f32 in [n, n], B f32 in [n, n], C f32 inout [n, n]
// sizes: n=32; n=96

// evo:launch squares(n, n, n, f32(1.5), A, B, f32(0.5), C) grid(ceil_div(n, 32), ceil_div(n, 32)) block(128)
__global__ void squares(int M, int N, int K, float alpha, float* A, float* B, float beta, float* C) {
  __shared__ float As[32 * 8];
  __shared__ float Bs[8 * 32];
  const int row = threadIdx.x / 16 * 4, column = threadIdx.x % 16 * 2;
  A += blockIdx.y * 32 * K;
  B += blockIdx.x * 32;
  C += blockIdx.y * 32 * N + blockIdx.x * 32;
  float sums[4 * 2] = {0.0};
  for (int k0 = 0; k0 < K; k0 += 8) {
    for (int i = threadIdx.x; i < 32 * 8; i += 128) {
      As[i % 8 * 32 + i / 8] = A[i / 8 * K + i % 8];
      Bs[i] = B[i / 32 * N + i % 32];
    }
    __syncthreads();
    A += 8;
    B += 8 * N;
    for (int k = 0; k < 8; ++k) {
      float a[4], b[2];
      for (int i = 0; i < 4; ++i) a[i] = As[k * 32 + row + i];
      for (int j = 0; j < 2; ++j) b[j] = Bs[k * 32 + column + j];
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 2; ++j) sums[i * 2 + j] += a[i] * b[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j) {
      float* at = &C[(row + i) * N + column + j];
      *at = alpha * sums[i * 2 + j] + beta * *at;
    }
}
