// Decoding in two kernels: blocks have parts of the keys for the four queries that share them, and the parts are put together.
// buffers: q f32 in [B, G, 4, D], k f32 in [B, G, L, D], v f32 in [B, G, L, D], o f32 out [B, G, 4, D]
// sizes: B=2 G=3 L=70 D=16; B=1 G=2 L=9 D=64
// evo:workspace sums f32 [B, G, 4, D, ceil_div(L, 32)]
// evo:workspace tops f32 [B, G, 4, ceil_div(L, 32)]
// evo:workspace weights f32 [B, G, 4, ceil_div(L, 32)]
// evo:launch one_part(q, k, v, sums, tops, weights, L, D) grid(ceil_div(L, 32), G, B) block(D)
// evo:launch all_parts(sums, tops, weights, o, ceil_div(L, 32), D) grid(B * G * 4) block(D)
#include <math.h>

__global__ void one_part(const float* q, const float* k, const float* v, float* sums, float* tops, float* weights, int L, int D) {
  __shared__ float p[4][32];
  const int part = blockIdx.x, parts = gridDim.x, group = blockIdx.z * gridDim.y + blockIdx.y, t = threadIdx.x;
  const int first = part * 32, many = min(32, L - first);
  for (int e = t; e < 4 * many; e += blockDim.x) {
    const int g = e / many, j = e % many;
    float s = 0.f;
    for (int c = 0; c < D; c++) s += q[(group * 4 + g) * D + c] * k[((size_t)group * L + first + j) * D + c];
    p[g][j] = s * 0.25f;
  }
  __syncthreads();
  for (int g = 0; g < 4; g++) {
    float top = -INFINITY, weight = 0.f, sum = 0.f;
    for (int j = 0; j < many; j++) top = fmaxf(top, p[g][j]);
    for (int j = 0; j < many; j++) {
      const float w = expf(p[g][j] - top);
      weight += w;
      sum += w * v[((size_t)group * L + first + j) * D + t];
    }
    const int slot = (group * 4 + g) * parts + part;
    sums[slot * D + t] = sum;
    if (t == 0) tops[slot] = top, weights[slot] = weight;
  }
}
__global__ void all_parts(const float* sums, const float* tops, const float* weights, float* o, int parts, int D) {
  const int head = blockIdx.x, t = threadIdx.x;
  float top = -INFINITY, weight = 0.f, sum = 0.f;
  for (int c = 0; c < parts; c++) top = fmaxf(top, tops[head * parts + c]);
  for (int c = 0; c < parts; c++) {
    const float w = expf(tops[head * parts + c] - top);
    weight += w * weights[head * parts + c];
    sum += w * sums[(head * parts + c) * D + t];
  }
  o[head * D + t] = sum / weight;
}
