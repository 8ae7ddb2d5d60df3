// A mask of keys for each sequence, in three kernels.
// buffers: q f32 in [B, H, T, D], k f32 in [B, H, T, D], v f32 in [B, H, T, D], mask i32<2 in [B, T], o f32 out [B, H, T, D]
// sizes: B=2 H=2 T=21 D=16; B=3 H=1 T=40 D=33
// evo:workspace s f32 [B, H, T, T]
// evo:launch dots(q, k, mask, s, H, T, D) grid(ceil_div(T, 64), T, B * H) block(64)
// evo:launch smx(s, B * H * T, T) grid(ceil_div(B * H * T, 256)) block(256)
// evo:launch mix(s, v, o, T, D) grid(T, B * H) block(D)
#include <math.h>

__global__ void dots(const float* q, const float* k, const int* mask, float* s, int H, int T, int D) {
  int j = threadIdx.x + blockIdx.x * blockDim.x, i = blockIdx.y, bh = blockIdx.z, b = bh / H;
  if (j >= T) return;
  float a = 0;
  for (int d = 0; d < D; d++) a += q[(bh * T + i) * D + d] * k[(bh * T + j) * D + d];
  a /= sqrtf((float)D);
  if (mask[b * T + j] == 0) a = -1e9f;
  s[(bh * T + i) * T + j] = a;
}
__global__ void smx(float* s, int rows, int T) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float m = s[r * T], z = 0;
  for (int j = 1; j < T; j++) m = max(m, s[r * T + j]);
  for (int j = 0; j < T; j++) z += expf(s[r * T + j] - m);
  for (int j = 0; j < T; j++) s[r * T + j] = expf(s[r * T + j] - m) / z;
}
__global__ void mix(const float* s, const float* v, float* o, int T, int D) {
  int d = threadIdx.x, i = blockIdx.x, bh = blockIdx.y;
  float a = 0;
  for (int j = 0; j < T; j++) a += s[(bh * T + i) * T + j] * v[(bh * T + j) * D + d];
  o[(bh * T + i) * D + d] = a;
}
