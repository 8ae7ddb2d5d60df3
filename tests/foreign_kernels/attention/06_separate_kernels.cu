// Three kernels: scores, softmax of their rows, product with the values.
// buffers: Q f16 in [B, N, 32], K f16 in [B, N, 32], V f16 in [B, N, 32], O f16 out [B, N, 32]
// sizes: B=2 N=21; B=1 N=8
// evo:workspace S f32 [B, N, N]
#include <cuda_fp16.h>

// evo:launch qk_kernel(Q, K, S, N, 32, f32(0.17677669)) grid(ceil_div(N, 16), ceil_div(N, 16), B) block(16, 16)
__global__ void qk_kernel(const half* Q, const half* K, float* S, int N, int D, float scale) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= N || j >= N) return;
  float s = 0.0f;
  for (int d = 0; d < D; ++d)
    s += __half2float(Q[(blockIdx.z * N + i) * D + d]) * __half2float(K[(blockIdx.z * N + j) * D + d]);
  S[(blockIdx.z * N + i) * N + j] = s * scale;
}

// evo:launch softmax_kernel(S, N, B * N) grid(ceil_div(B * N, 64)) block(64)
__global__ void softmax_kernel(float* S, int N, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float m = S[r * N];
  for (int j = 1; j < N; ++j) m = fmaxf(m, S[r * N + j]);
  float sum = 0.0f;
  for (int j = 0; j < N; ++j) {
    S[r * N + j] = expf(S[r * N + j] - m);
    sum += S[r * N + j];
  }
  for (int j = 0; j < N; ++j) S[r * N + j] /= sum;
}

// evo:launch pv_kernel(S, V, O, N, 32) grid(ceil_div(32, 32), ceil_div(N, 8), B) block(32, 8)
__global__ void pv_kernel(const float* S, const half* V, half* O, int N, int D) {
  int d = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= N || d >= D) return;
  float acc = 0.0f;
  for (int j = 0; j < N; ++j) acc += S[(blockIdx.z * N + i) * N + j] * __half2float(V[(blockIdx.z * N + j) * D + d]);
  O[(blockIdx.z * N + i) * D + d] = __float2half(acc);
}
