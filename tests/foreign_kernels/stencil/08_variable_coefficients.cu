// buffers: A f32 in [H, W], K f32 in [H, W], B f32 out [H, W]
// sizes: H=1 W=1; H=13 W=12; H=40 W=130
// evo:launch diffuse<32, 4>(A, K, B, H, W) grid(ceil_div(W, 32), ceil_div(H, 4)) block(32, 4)

template <int BX, int BY>
__global__ void diffuse(const float* __restrict__ t, const float* __restrict__ k, float* __restrict__ out, int ny, int nx) {
  const int ix = blockIdx.x * BX + threadIdx.x;
  const int iy = blockIdx.y * BY + threadIdx.y;
  if (ix >= nx || iy >= ny) return;
  const size_t c = (size_t)iy * nx + ix;
  if (ix == 0 || iy == 0 || ix == nx - 1 || iy == ny - 1) {
    out[c] = t[c];
    return;
  }
  const float ke = 0.5f * (k[c] + k[c + 1]);
  const float kw = 0.5f * (k[c] + k[c - 1]);
  const float kn = 0.5f * (k[c] + k[c - nx]);
  const float ks = 0.5f * (k[c] + k[c + nx]);
  out[c] = t[c] + 0.1f * (ke * (t[c + 1] - t[c]) - kw * (t[c] - t[c - 1]) + ks * (t[c + nx] - t[c]) - kn * (t[c] - t[c - nx]));
}
