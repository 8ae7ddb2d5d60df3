// What signal processing calls a convolution: the filter of each pair of channels runs backwards in time, samples before 0 are 0.
// buffers: x f32 in [B, C, T], h f32 in [M, C, L], y f32 out [B, M, T]
// sizes: B=2 C=3 M=4 T=50 L=5; B=1 C=5 M=3 T=201 L=9; B=1 C=2 M=2 T=4 L=2
// evo:launch fir_bank(x, h, y, C, T, M, L) grid(ceil_div(T, 64), M, B) block(64)
__global__ void fir_bank(const float* x, const float* h, float* y, int C, int T, int M, int L) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int m = blockIdx.y, b = blockIdx.z;
  if (t < T) {
    float s = 0.0f;
    for (int c = 0; c < C; c++)
      for (int l = 0; l < L && l <= t; l++) s += h[(m * C + c) * L + l] * x[(b * C + c) * T + t - l];
    y[(b * M + m) * T + t] = s;
  }
}
