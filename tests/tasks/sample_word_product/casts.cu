// evo:launch dot_rows(A, B, C, M, N, 4 * W) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
#include <stdint.h>
__global__ void dot_rows(const int8_t* X, const int8_t* W, int* Y, int M, int N, int K) {
  int n = threadIdx.x + blockIdx.x * 16;
  int m = threadIdx.y + blockIdx.y * 16;
  if (m >= M || n >= N) return;
  const int* x = reinterpret_cast<const int*>(X + m * K);
  const int* w = (const int*)&W[n * K];
  int total = 0;
#pragma unroll 4
  for (int i = 0; i < K / 4; ++i) total = __dp4a(x[i], w[i], total);
  Y[m * N + n] = max(total, 0);
}
