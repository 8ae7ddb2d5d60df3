#pragma once

#include <utility>

namespace evo {

// Matrix products as different people write them. None is from evo's tasks.

inline constexpr const char* kColumnMajor = R"(
// evo:launch colmajor(X, Y, Z, M, N, K, M, K, M) grid(ceil_div(M, 32), ceil_div(N, 8)) block(32, 8)
__global__ void colmajor(const float* x, const float* y, float* z, int m, int n, int k, int ldx, int ldy, int ldz) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  int j = threadIdx.y + blockIdx.y * blockDim.y;
  if (i < m && j < n) {
    float acc = 0.f;
    for (int l = 0; l < k; l++) acc += x[i + l * ldx] * y[l + j * ldy];
    z[i + j * ldz] = acc;
  }
}
)";

inline constexpr const char* kTransposedB = R"(
// evo:launch dense(X, W, Y, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void dense(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int I, int O, int D) {
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int o = blockIdx.x * 16 + tx;
  const int i = blockIdx.y * 16 + ty;
  if (i >= I || o >= O) return;
  const float* xi = x + i * D;
  const float* wo = &w[o * D];
  float s = 0.0f;
  for (int d = 0; d < D; ++d) {
    s = s + xi[d] * wo[d];
  }
  y[i * O + o] = s;
}
)";

inline constexpr const char* kAlphaBeta = R"(
// evo:launch sgemm(A, B, C, M, N, K, K, N, N, 1.5, 0.5) grid(ceil_div(M, 8), ceil_div(N, 32)) block(8, 32)
__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K, int lda, int ldb, int ldc, float alpha,
                      float beta) {
  const unsigned int r = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned int c = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= M) return;
  if (c >= N) return;
  float total = 0.0f;
  for (int t = 0; t < K; ++t) total += A[r * lda + t] * B[t * ldb + c];
  // The old value counts only if beta says so.
  float result = alpha * total;
  if (beta != 0.0f) result += beta * C[r * ldc + c];
  C[r * ldc + c] = result;
}
)";

inline constexpr const char* kBiasGelu = R"(
// evo:launch linear(X, W, Bias, Y, M, N, K) grid(ceil_div(N, 32), ceil_div(M, 4)) block(32, 4)
__device__ float Gelu(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); }

__global__ void linear(const float* x, const float* w, const float* bias, float* y, int tokens, int features, int inputs) {
    int feature = blockIdx.x * blockDim.x + threadIdx.x;
    int token = blockIdx.y * blockDim.y + threadIdx.y;
    if (token < tokens && feature < features) {
        const float offset = bias[feature];
        float sum = 0.0f;
        for (int i = 0; i < inputs; i++) {
            const float left = x[token * inputs + i];
            const float right = w[feature * inputs + i];
            sum += left * right;
        }
        sum += offset;
        y[token * features + feature] = Gelu(sum);
    }
}
)";

inline constexpr const char* kBatched = R"(
// evo:launch many(A, B, C, K) grid(ceil_div(40, 8), ceil_div(48, 8), BATCH) block(8, 8)
__global__ void many(const float* a, const float* b, float* c, int depth) {
  const int image = blockIdx.z;
  const int col = blockIdx.x * 8 + threadIdx.x;
  const int row = blockIdx.y * 8 + threadIdx.y;
  const float* p = a + (size_t)image * 48 * depth;
  const float* q = b + (size_t)blockIdx.z * depth * 40;
  float* out = c + (size_t)image * 48 * 40;
  if (row >= 48 || col >= 40) return;
  float acc = 0;
#pragma unroll 4
  for (int e = 0; e < depth; ++e) acc = fmaf(p[row * depth + e], q[e * 40 + col], acc);
  out[row * 40 + col] = acc;
}
)";

inline constexpr const char* kBytes = R"(
// evo:launch quantised(A, B, C, M, N, K) grid(ceil_div(N, 64), M) block(64, 1)
__global__ void quantised(const signed char* a, const signed char* b, int* c, int h, int w, int channels) {
  const int x = blockIdx.x * 64 + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int dot = 0;
  for (int c = 0; c < channels; ++c) dot += (int)a[y * channels + c] * (int)b[c * w + x];
  c[y * w + x] = dot;
}
)";

inline constexpr const char* kHalves = R"(
#include <cuda_fp16.h>
// evo:launch hgemm(A, B, C, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void hgemm(const __half* A, const __half* B, __half* C, int M, int N, int K) {
  int m = blockIdx.y * blockDim.y + threadIdx.y;
  int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= M || n >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += __half2float(A[m * K + k]) * __half2float(B[k * N + n]);
  C[m * N + n] = __float2half(sum);
}
)";

inline constexpr const char* kFlat = R"(
// evo:launch flat(A, B, C, M, N, K) grid(ceil_div(M * N, 128)) block(128)
__global__ void flat(const double* A, const double* B, double* C, int rows, int cols, int inner) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= rows * cols) return;
  int r = idx / cols;
  int c = idx % cols;
  double v = 0.0;
  for (int i = 0; i < inner; i++) v += A[r * inner + i] * B[i * cols + c];
  C[idx] = v;
}
)";

inline constexpr const char* kScaled = R"(
// evo:launch scaled(A, B, S, C, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void scaled(const float* A, const float* B, const float* scale, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float acc = 0.0f;
    for (int k = 0; k < K; k++) acc += A[row * K + k] * scale[k] * B[k * N + col];
    C[row * N + col] = acc;
  }
}
)";

inline constexpr const char* kTransposedA = R"(
// evo:launch gram(U, V, G, M, N, K) grid(ceil_div(M, 16), ceil_div(N, 16)) block(16, 16)
__global__ void gram(const float* u, const float* v, float* g, unsigned P, unsigned Q, unsigned S) {
	unsigned p = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned q = blockIdx.y * blockDim.y + threadIdx.y;
	if (p >= P || q >= Q)
		return;
	float acc = 0;
	for (unsigned s = 0; s < S; s++)
		acc += __ldg(&u[s * P + p]) * __ldg(&v[s * Q + q]);
	g[p * Q + q] = acc;
}
)";

// Right for whole blocks only: recognised by what is left in memory.
inline const char* const kWithoutABound = R"(
// evo:launch product(A, B, C, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  float acc = 0.0f;
  for (int k = 0; k < K; k++) acc += A[row * K + k] * B[k * N + col];
  C[row * N + col] = acc;
}
)";

// With a part of the reason.
inline const std::pair<const char*, const char*> kRefused[] = {
    {R"(
// evo:launch diagonal(A, B, C, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void diagonal(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.x + threadIdx.x;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float acc = 0.0f;
  for (int k = 0; k < K; k++) acc += A[row * K + k] * B[k * N + col];
  C[row * N + col] = acc;
}
)",
     "go along one axis"},
    {R"(
// evo:launch skipping(A, B, S, C, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void skipping(const float* A, const float* B, const int* skip, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || skip[row] > 0) return;
  if (col >= N) return;
  float acc = 0.0f;
  for (int k = 0; k < K; k++) acc += A[row * K + k] * B[k * N + col];
  C[row * N + col] = acc;
}
)",
     "its guard has more than bounds of the indices"},
    {R"(
// evo:launch distance(A, B, C, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void distance(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float acc = 0.0f;
  for (int k = 0; k < K; k++) acc += 1.0f + fabsf(A[row * K + k] - B[k * N + col]);
  C[row * N + col] = acc;
}
)",
     "is no product of two factors"},
    {R"(
// evo:launch gathered(A, B, I, C, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void gathered(const float* A, const float* B, const int* I, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float acc = 0.0f;
  for (int k = 0; k < K; k++) acc += A[row * K + k] * B[I[k] * N + col];
  C[row * N + col] = acc;
}
)",
     "is no sum of products of sizes and indices"},
    {R"(
// evo:launch rows(A, X, Y, M, K) grid(ceil_div(M, 128)) block(128)
__global__ void rows(const float* A, const float* x, float* y, int M, int K) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  float acc = 0.0f;
  for (int k = 0; k < K; k++) acc += A[row * K + k] * x[k];
  y[row] = acc;
}
)",
     "one index of the form blockIdx * size + threadIdx"},
    {R"(
// evo:launch inplace(A, B, M) grid(ceil_div(M, 16), ceil_div(M, 16)) block(16, 16)
__global__ void inplace(float* A, const float* B, int M) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= M) return;
  float acc = 0.0f;
  for (int k = 0; k < M; k++) acc += A[row * M + k] * B[k * M + col];
  A[row * M + col] = acc;
}
)",
     "may be written while the kernel runs"},
    {R"(
// evo:launch masked(A, B, C, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void masked(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float acc = 0.0f;
  for (int k = 0; k < K; k++) {
    if (A[row * K + k] > 0.0f) acc += A[row * K + k] * B[k * N + col];
  }
  C[row * N + col] = acc;
}
)",
     "acc is added to under a condition"},
    {R"(
// evo:launch triangular(A, B, C, M, K) grid(ceil_div(M, 16), ceil_div(M, 16)) block(16, 16)
__global__ void triangular(const float* A, const float* B, float* C, int M, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= M) return;
  float acc = 0.0f;
  for (int k = 0; k < row; k++) acc += A[row * M + k] * B[k * M + col];
  C[row * M + col] = acc;
}
)",
     "do not all sum up to the same bound `row`"},
    {R"(
// evo:launch filter(A, B, C, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void filter(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float acc = 0.0f;
  for (int i = 0; i < K; i++)
    for (int j = 0; j < 3; j++) acc += A[row * K + i + j] * B[(i + j) * N + col];
  C[row * N + col] = acc;
}
)",
     "acc is summed over 2 loops"},
    {R"(
// evo:launch started(A, B, C, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void started(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float acc = C[row * N];
  for (int k = 0; k < K; k++) acc += A[row * K + k] * B[k * N + col];
  C[row * N + col] = acc;
}
)",
     "with which its sum starts, may be written while the kernel runs"},
    {R"(
// evo:launch twice(A, B, C, D, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void twice(const float* A, const float* B, const float* C, float* D, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float gate = 0.0f, up = 0.0f;
  for (int k = 0; k < K; k++) {
    gate += A[row * K + k] * B[k * N + col];
    up += A[row * K + k] * C[k * N + col];
  }
  D[row * N + col] = gate * up;
}
)",
     "it adds up more than one sum"},
};

}  // namespace evo
