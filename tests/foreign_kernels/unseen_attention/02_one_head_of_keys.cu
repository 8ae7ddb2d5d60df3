// Multi-query attention in three kernels, causal.
// buffers: Q f32 in [B, H, T, D], K f32 in [B, T, D], V f32 in [B, T, D], O f32 out [B, H, T, D]
// sizes: B=2 H=3 T=17 D=20; B=1 H=4 T=40 D=64
// evo:workspace S f32 [B, H, T, T]
// evo:launch mqa_scores(Q, K, S, H, T, D) grid(ceil_div(T, 16), ceil_div(T, 16), B * H) block(16, 16)
// evo:launch mqa_softmax(S, T) grid(B * H * T) block(128)
// evo:launch mqa_values(S, V, O, H, T, D) grid(ceil_div(D, 16), ceil_div(T, 16), B * H) block(16, 16)
#include <math.h>

__global__ void mqa_scores(const float* Q, const float* K, float* S, int H, int T, int D) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y, bh = blockIdx.z;
  int b = bh / H;
  if (i >= T || j >= T) return;
  float acc = 0.0f;
  for (int d = 0; d < D; d++) acc += Q[(bh * T + i) * D + d] * K[(b * T + j) * D + d];
  S[(bh * T + i) * T + j] = j <= i ? acc / sqrtf((float)D) : -INFINITY;
}
__global__ void mqa_softmax(float* S, int T) {
  int row = blockIdx.x;
  float* s = S + (size_t)row * T;
  __shared__ float buf[128];
  float m = -INFINITY;
  for (int j = threadIdx.x; j < T; j += blockDim.x) m = fmaxf(m, s[j]);
  buf[threadIdx.x] = m; __syncthreads();
  for (int o = 64; o > 0; o /= 2) { if (threadIdx.x < o) buf[threadIdx.x] = fmaxf(buf[threadIdx.x], buf[threadIdx.x + o]); __syncthreads(); }
  m = buf[0]; __syncthreads();
  float sum = 0;
  for (int j = threadIdx.x; j < T; j += blockDim.x) { float e = expf(s[j] - m); s[j] = e; sum += e; }
  buf[threadIdx.x] = sum; __syncthreads();
  for (int o = 64; o > 0; o /= 2) { if (threadIdx.x < o) buf[threadIdx.x] += buf[threadIdx.x + o]; __syncthreads(); }
  sum = buf[0];
  for (int j = threadIdx.x; j < T; j += blockDim.x) s[j] /= sum;
}
__global__ void mqa_values(const float* S, const float* V, float* O, int H, int T, int D) {
  int d = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y, bh = blockIdx.z;
  int b = bh / H;
  if (i >= T || d >= D) return;
  float acc = 0.0f;
  for (int j = 0; j < T; j++) acc += S[(bh * T + i) * T + j] * V[(b * T + j) * D + d];
  O[(bh * T + i) * D + d] = acc;
}
