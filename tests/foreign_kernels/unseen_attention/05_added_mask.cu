// Three kernels; an element of a mask is added to each score, the same for all heads.
// buffers: Q f32 in [H, T, D], K f32 in [H, T, D], V f32 in [H, T, D], mask f32 in [T, T], O f32 out [H, T, D]
// sizes: H=2 T=19 D=24; H=3 T=40 D=64
// evo:workspace S f32 [H, T, T]
// evo:launch qk(Q, K, mask, S, T, D) grid(ceil_div(T, 16), ceil_div(T, 16), H) block(16, 16)
// evo:launch sm(S, T) grid(T, H) block(128) shared(T * 4)
// evo:launch pv(S, V, O, T, D) grid(ceil_div(D, 16), ceil_div(T, 16), H) block(16, 16)
#include <math.h>

__global__ void qk(const float* Q, const float* K, const float* mask, float* S, int T, int D) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y, h = blockIdx.z;
  if (i < T && j < T) {
    float a = 0;
    for (int d = 0; d < D; ++d) a += Q[h * T * D + i * D + d] * K[h * T * D + j * D + d];
    S[h * T * T + i * T + j] = a * rsqrtf((float)D) + mask[i * T + j];
  }
}
__global__ void sm(float* S, int T) {
  extern __shared__ float row[];
  float* s = S + (blockIdx.y * T + blockIdx.x) * T;
  float mx = -INFINITY;
  for (int j = threadIdx.x; j < T; j += blockDim.x) { row[j] = s[j]; }
  __syncthreads();
  for (int j = 0; j < T; j++) mx = fmaxf(mx, row[j]);
  float sum = 0;
  for (int j = 0; j < T; j++) sum += expf(row[j] - mx);
  for (int j = threadIdx.x; j < T; j += blockDim.x) s[j] = expf(row[j] - mx) / sum;
}
__global__ void pv(const float* S, const float* V, float* O, int T, int D) {
  int d = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y, h = blockIdx.z;
  if (i < T && d < D) {
    float a = 0;
    for (int j = 0; j < T; ++j) a += S[h * T * T + i * T + j] * V[h * T * D + j * D + d];
    O[h * T * D + i * D + d] = a;
  }
}
