// Rows of sequences without keys are zero.
// buffers: Q f32 in [B, H, N, 16], K f32 in [B, H, N, 16], V f32 in [B, H, N, 16], lens i32<2 in [B], O f32 out [B, H, N, 16]
// sizes: B=5 H=2 N=40; B=9 H=1 N=7
#define DIM 16

// evo:launch ragged(Q, K, V, lens, O, N, H) grid(ceil_div(N, 64), H, B) block(64)
__global__ void ragged(const float* Q, const float* K, const float* V, const int* lens, float* O, int N, int H) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  const int len = lens[blockIdx.z];
  const int head = (blockIdx.z * H + blockIdx.y) * N * DIM;
  float m = -1e20f, l = 0.0f, acc[DIM] = {};
  for (int j = 0; j < len; ++j) {
    float s = 0.0f;
    for (int d = 0; d < DIM; ++d) s += Q[head + i * DIM + d] * K[head + j * DIM + d];
    s *= 0.25f;
    const float old = m;
    m = fmaxf(m, s);
    const float fix = expf(old - m), p = expf(s - m);
    l = l * fix + p;
    for (int d = 0; d < DIM; ++d) acc[d] = acc[d] * fix + p * V[head + j * DIM + d];
  }
  for (int d = 0; d < DIM; ++d) O[head + i * DIM + d] = l > 0.0f ? acc[d] / l : 0.0f;
}
