// One-dimensional, causal and dilated, as in a network for sound; tanh and a residual.
// buffers: X f32 in [B, C, T], F f32 in [K, C, 2], R f32 in [B, K, T], Y f32 out [B, K, T]
// sizes: B=2 C=13 K=4 T=40 D=4; B=1 C=9 K=8 T=67 D=1; B=3 C=2 K=3 T=5 D=8
// evo:launch causal_conv<2>(X, F, R, Y, C, K, T, D) grid(ceil_div(T, 64), K, B) block(64)
template <int TAPS>
__global__ void causal_conv(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ res,
                            float* __restrict__ y, int c_in, int c_out, int len, int dilation) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int co = blockIdx.y;
  int b = blockIdx.z;
  if (t < len) {
    float s = 0.0f;
    for (int ci = 0; ci < c_in; ci++) {
      for (int tap = 0; tap < TAPS; tap++) {
        int src = t - (TAPS - 1 - tap) * dilation;
        float v = src >= 0 ? x[(b * c_in + ci) * len + src] : 0.0f;
        s += v * w[(co * c_in + ci) * TAPS + tap];
      }
    }
    size_t o = ((size_t)b * c_out + co) * len + t;
    y[o] = tanhf(s) + res[o];
  }
}
