// Words of bytes in variables.
// buffers: A i8<256 in [M, K], B i8<256 in [N, K], C i32 out [M, N]
// sizes: M=33 N=24 K=40; M=8 N=72 K=16; M=2 N=3 K=4
#include <cstdint>
// evo:launch igemm(A, B, C, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void igemm(const int8_t* __restrict__ A, const int8_t* __restrict__ B, int32_t* __restrict__ C, int M, int N, int K) {
  const int n = blockIdx.x * 16 + threadIdx.x;
  const int m = blockIdx.y * 16 + threadIdx.y;
  if (m >= M || n >= N) return;
  const int* a4 = reinterpret_cast<const int*>(A + m * K);
  const int* b4 = (const int*)(B + n * K);
  int acc = 0;
  for (int k = 0; k < K / 4; ++k) {
    const int a = a4[k];
    const int b = b4[k];
    acc = __dp4a(a, b, acc);
  }
  C[m * N + n] = acc;
}
