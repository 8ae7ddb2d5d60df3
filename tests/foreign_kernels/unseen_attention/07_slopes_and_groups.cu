// Slopes of distances, and heads that share keys, in three kernels.
// buffers: q f32 in [nh, T, D], k f32 in [nkv, T, D], v f32 in [nkv, T, D], slopes f32 in [nh], o f32 out [nh, T, D]
// sizes: nh=4 nkv=2 T=21 D=16; nh=3 nkv=3 T=34 D=64
// evo:workspace s f32 [nh, T, T]
// evo:launch scores(q, k, slopes, s, nh, nkv, T, D) grid(ceil_div(T, 16), ceil_div(T, 16), nh) block(16, 16)
// evo:launch soft(s, T) grid(T, nh) block(1)
// evo:launch vals(s, v, o, nh, nkv, T, D) grid(T, nh) block(D)
#include <math.h>

__global__ void scores(const float* q, const float* k, const float* slopes, float* s, int nh, int nkv, int T, int D) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y, h = blockIdx.z;
  if (i >= T || j >= T) return;
  if (j > i) { s[(h * T + i) * T + j] = -INFINITY; return; }
  int g = h * nkv / nh;
  float a = 0;
  for (int d = 0; d < D; d++) a += q[(h * T + i) * D + d] * k[(g * T + j) * D + d];
  s[(h * T + i) * T + j] = a / sqrtf(D) - slopes[h] * (i - j);
}
__global__ void soft(float* s, int T) {
  float* r = s + (blockIdx.y * T + blockIdx.x) * T;
  float m = -INFINITY, sum = 0;
  for (int j = 0; j < T; j++) m = fmaxf(m, r[j]);
  for (int j = 0; j < T; j++) { r[j] = expf(r[j] - m); sum += r[j]; }
  for (int j = 0; j < T; j++) r[j] /= sum;
}
__global__ void vals(const float* s, const float* v, float* o, int nh, int nkv, int T, int D) {
  int d = threadIdx.x, i = blockIdx.x, h = blockIdx.y, g = h * nkv / nh;
  float a = 0;
  for (int j = 0; j < T; j++) a += s[(h * T + i) * T + j] * v[(g * T + j) * D + d];
  o[(h * T + i) * D + d] = a;
}
