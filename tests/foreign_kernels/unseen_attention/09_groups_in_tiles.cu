// Heads that share keys, tiles in shared memory, a template.
// buffers: Q f32 in [B, N, T, 32], K f32 in [B, G, T, 32], V f32 in [B, G, T, 32], O f32 out [B, N, T, 32]
// sizes: B=2 N=4 G=2 T=21; B=1 N=3 G=1 T=70
// evo:launch gqa_flash<64, 32, 32>(Q, K, V, O, N, G, T, bool(1)) grid(ceil_div(T, 64), N, B) block(64)
#include <math.h>

template <int BR, int BC, int D>
__global__ void gqa_flash(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V, float* __restrict__ O,
                          int n_head, int n_kv, int T, bool causal) {
  __shared__ float Ks[BC][D], Vs[BC][D];
  int row = blockIdx.x * BR + threadIdx.x, h = blockIdx.y, b = blockIdx.z;
  int g = h / (n_head / n_kv);
  const float* k = K + ((size_t)b * n_kv + g) * T * D;
  const float* v = V + ((size_t)b * n_kv + g) * T * D;
  const float* q = Q + (((size_t)b * n_head + h) * T + row) * D;
  float qr[D], acc[D], m = -INFINITY, l = 0.f;
  for (int d = 0; d < D; d++) { qr[d] = row < T ? q[d] : 0.f; acc[d] = 0.f; }
  for (int t = 0; t < T; t += BC) {
    for (int e = threadIdx.x; e < BC * D; e += BR) {
      int r = e / D, d = e % D;
      Ks[r][d] = t + r < T ? k[(t + r) * D + d] : 0.f;
      Vs[r][d] = t + r < T ? v[(t + r) * D + d] : 0.f;
    }
    __syncthreads();
    for (int j = 0; j < BC && t + j < T; j++) {
      if (causal && t + j > row) break;
      float s = 0.f;
      for (int d = 0; d < D; d++) s += qr[d] * Ks[j][d];
      s *= 0.17677669f;
      float mn = fmaxf(m, s), c = __expf(m - mn), p = __expf(s - mn);
      l = l * c + p;
      for (int d = 0; d < D; d++) acc[d] = acc[d] * c + p * Vs[j][d];
      m = mn;
    }
    __syncthreads();
  }
  if (row < T) for (int d = 0; d < D; d++) O[(((size_t)b * n_head + h) * T + row) * D + d] = acc[d] / l;
}
