// Lengths of sequences, in three kernels: keys behind them have a large negative score.
// buffers: q f32 in [B, H, L, D], k f32 in [B, H, L, D], v f32 in [B, H, L, D], lens i32<12 in [B], o f32 out [B, H, L, D]
// sizes: B=5 H=2 L=13 D=16; B=3 H=1 L=40 D=32
// evo:workspace s f32 [B, H, L, L]
// evo:launch scores_kernel(q, k, lens, s, H, L, D) grid(ceil_div(L, 128), L, B * H) block(128)
// evo:launch softmax_rows(s, L) grid(B * H * L) block(32)
// evo:launch context_kernel(s, v, o, L, D) grid(L, B * H) block(D)
#include <math.h>

__global__ void scores_kernel(const float* q, const float* k, const int* lens, float* s, int H, int L, int D) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y, bh = blockIdx.z;
  if (j >= L) return;
  int len = lens[bh / H];
  float acc = 0;
  for (int d = 0; d < D; d++) acc += q[((size_t)bh * L + i) * D + d] * k[((size_t)bh * L + j) * D + d];
  s[((size_t)bh * L + i) * L + j] = j < len ? acc * 0.25f : -1e9f;
}
__global__ void softmax_rows(float* s, int L) {
  float* r = s + (size_t)blockIdx.x * L;
  if (threadIdx.x == 0) {
    float m = r[0];
    for (int j = 1; j < L; j++) if (r[j] > m) m = r[j];
    float t = 0;
    for (int j = 0; j < L; j++) { r[j] = expf(r[j] - m); t += r[j]; }
    for (int j = 0; j < L; j++) r[j] /= t;
  }
}
__global__ void context_kernel(const float* s, const float* v, float* o, int L, int D) {
  int d = threadIdx.x, i = blockIdx.x, bh = blockIdx.y;
  float acc = 0;
  for (int j = 0; j < L; j++) acc += s[((size_t)bh * L + i) * L + j] * v[((size_t)bh * L + j) * D + d];
  o[((size_t)bh * L + i) * D + d] = acc;
}
