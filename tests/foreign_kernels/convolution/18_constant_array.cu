// Filters in an array of four dimensions in constant memory.
// buffers: X f32 in [N, 3, H, W], F f32 in [4, 3, 3, 3], Y f32 out [N, 4, H - 2, W - 2]
// sizes: N=2 H=9 W=11; N=1 H=6 W=34; N=1 H=3 W=4
__constant__ float weights[4][3][3][3];

// evo:constant weights = F
// evo:launch conv_valid(X, Y, H, W) grid(ceil_div(W - 2, 32), H - 2, N * 4) block(32)
__global__ void conv_valid(const float* __restrict__ in, float* __restrict__ out, int height, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  const int image = blockIdx.z / 4, k = blockIdx.z % 4;
  if (x >= width - 2) return;
  float acc = 0.0f;
  for (int c = 0; c < 3; ++c)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) acc += in[((image * 3 + c) * height + y + i) * width + x + j] * weights[k][c][i][j];
  out[((image * 4 + k) * (height - 2) + y) * (width - 2) + x] = acc;
}
