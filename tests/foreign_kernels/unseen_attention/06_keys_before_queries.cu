// Queries at the end of the keys, each sees those up to its own; no largest score.
// buffers: q f32 in [H, Tq, hd], k f32 in [H, Tk, hd], v f32 in [H, Tk, hd], o f32 out [H, Tq, hd]
// sizes: H=2 Tq=9 Tk=30 hd=16; H=1 Tq=33 Tk=40 hd=64
// evo:workspace p f32 [H, Tq, Tk]
// evo:launch attn_scores(q, k, p, Tq, Tk, hd) grid(ceil_div(Tk, 64), Tq, H) block(64)
// evo:launch attn_norm(p, Tk) grid(H * Tq) block(64)
// evo:launch attn_out(p, v, o, Tq, Tk, hd) grid(Tq, H) block(128)
#include <math.h>

__global__ void attn_scores(const float* q, const float* k, float* p, int Tq, int Tk, int hd) {
  int h = blockIdx.z, i = blockIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= Tk) return;
  if (j > i + Tk - Tq) { p[(h * Tq + i) * Tk + j] = 0.f; return; }
  float s = 0;
  for (int d = 0; d < hd; ++d) s += q[(h * Tq + i) * hd + d] * k[(h * Tk + j) * hd + d];
  p[(h * Tq + i) * Tk + j] = expf(s / sqrtf(hd));
}
__global__ void attn_norm(float* p, int Tk) {
  int r = blockIdx.x;
  __shared__ float total;
  if (threadIdx.x == 0) { total = 0; for (int j = 0; j < Tk; ++j) total += p[r * Tk + j]; }
  __syncthreads();
  for (int j = threadIdx.x; j < Tk; j += blockDim.x) p[r * Tk + j] /= total;
}
__global__ void attn_out(const float* p, const float* v, float* o, int Tq, int Tk, int hd) {
  int h = blockIdx.y, i = blockIdx.x, d = threadIdx.x;
  if (d >= hd) return;
  float s = 0;
  for (int j = 0; j < Tk; ++j) s += p[(h * Tq + i) * Tk + j] * v[(h * Tk + j) * hd + d];
  o[(h * Tq + i) * hd + d] = s;
}
