// buffers: A f32 in [H, W], B f32 out [H, W]
// sizes: H=1 W=1; H=9 W=30; H=12 W=140
// evo:launch smooth(A, B, W, H) grid(ceil_div(W, 16), ceil_div(H, 8)) block(16, 8)

// Threads outside of the field add up what nobody has stored, and store nothing.
__global__ void smooth(const float* in, float* out, int w, int h) {
  __shared__ float t[10][18];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, i = threadIdx.x + 1, j = threadIdx.y + 1;
  float own;
  if (x < w && y < h) {
    own = in[y * w + x];
    t[j][i] = own;
    if (threadIdx.x == 0) t[j][0] = in[y * w + max(x - 1, 0)];
    if (threadIdx.x == 15 || x == w - 1) t[j][i + 1] = in[y * w + min(x + 1, w - 1)];
    if (threadIdx.y == 0) t[0][i] = in[max(y - 1, 0) * w + x];
    if (threadIdx.y == 7 || y == h - 1) t[j + 1][i] = in[min(y + 1, h - 1) * w + x];
  }
  __syncthreads();
  const float sum = 0.5f * own + 0.125f * (t[j][i - 1] + t[j][i + 1] + t[j - 1][i] + t[j + 1][i]);
  if (x < w && y < h) out[y * w + x] = sum;
}
