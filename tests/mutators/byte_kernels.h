// Matrix products of bytes, as other people write them.
#pragma once

namespace evo {

// A layer with a scale, bounds that are no int, and factors that variables of the loop stand for.
inline constexpr const char* kByteLayer = R"(
// evo:launch layer(X, W, Bias, Y, M, N, K, 0.5) grid(ceil_div(M, 32), ceil_div(N, 4), BATCH) block(32, 4)
__global__ void layer(const signed char* X, const signed char* W, const float* bias, signed char* Y, size_t M, size_t N, size_t K,
                      float scale) {
  const signed char* x = X + blockIdx.z * K * M;
  size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  size_t j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < M && j < N) {
    int total = 0;
    for (size_t k = 0; k < K; ++k) {
      const signed char left = __ldg(&x[i * K + k]);
      const int right = static_cast<int>(W[j * K + k]);
      total = total + right * left;
    }
    // Rounded to the nearest integer.
    const int rounded = __float2int_rn(total * scale + bias[j]);
    Y[(blockIdx.z * M + i) * N + j] = rounded < -128 ? -128 : rounded > 127 ? 127 : rounded;
  }
}
)";

inline constexpr const char* kByteGram = R"(
// evo:launch gram(U, V, G, M, N, K) grid(ceil_div(M, 8), ceil_div(N, 32)) block(8, 32)
__global__ void gram(const unsigned char* u, const unsigned char* v, int* g, unsigned P, unsigned Q, unsigned S) {
  unsigned p = blockIdx.x * 8 + threadIdx.x;
  unsigned q = blockIdx.y * 32 + threadIdx.y;
  if (p >= P || q >= Q) return;
  int acc = 0;
  for (unsigned s = 0; s < S; s++) acc += u[p * S + s] * v[q * S + s];
  g[p * Q + q] = acc;
}
)";

// Four bytes at a time, from words.
inline constexpr const char* kWordProduct = R"(
// evo:launch dp4a_gemm(A, B, C, M, N, W) grid(ceil_div(N, 32), ceil_div(M, 8)) block(32, 8)
__global__ void dp4a_gemm(const int* __restrict__ A, const int* __restrict__ B, int* __restrict__ C, int M, int N, int K4) {
  int col = blockIdx.x * 32 + threadIdx.x;
  int row = blockIdx.y * 8 + threadIdx.y;
  if (row < M && col < N) {
    int acc = 0;
    for (int k = 0; k < K4; k++) {
      int a4 = A[row * K4 + k];
      int b4 = __ldg(&B[col * K4 + k]);
      acc = __dp4a(a4, b4, acc);
    }
    C[row * N + col] = acc > 0 ? acc : 0;
  }
}
)";

// The same, of bytes behind casts.
inline constexpr const char* kCastProduct = R"(
// evo:launch dot_rows(X, W, Y, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
#include <stdint.h>
__global__ void dot_rows(const int8_t* X, const int8_t* W, float* Y, int M, int N, int K) {
  int n = threadIdx.x + blockIdx.x * 16;
  int m = threadIdx.y + blockIdx.y * 16;
  if (m >= M || n >= N) return;
  const int* x = reinterpret_cast<const int*>(X + m * K);
  const int* w = (const int*)&W[n * K];
  int total = 0;
#pragma unroll 4
  for (int i = 0; i < K / 4; ++i) total = __dp4a(x[i], w[i], total);
  Y[m * N + n] = 0.5f * total;
}
)";

}  // namespace evo
