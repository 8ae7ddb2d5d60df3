// Floats; images and filters along two axes of the grid.
// buffers: X f32 in [N, C, H, W], F f32 in [K, C, 3, 3], Y f32 out [N, K, H - 2, W - 2]
// sizes: N=2 C=3 K=4 H=9 W=11; N=1 C=5 K=2 H=6 W=34
// evo:launch convolution(X, F, Y, C, H, W) grid(ceil_div((H - 2) * (W - 2), 64), K, N) block(64)
__global__ void convolution(const float* image, const float* mask, float* result, int channels, int rows, int cols) {
  const int out_rows = rows - 2, out_cols = cols - 2;
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel >= out_rows * out_cols) return;
  const int r = pixel / out_cols;
  const int q = pixel % out_cols;
  float total = 0.0f;
  for (int c = 0; c < channels; ++c)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        total += image[((blockIdx.z * channels + c) * rows + r + i) * cols + q + j] *
                 mask[((blockIdx.y * channels + c) * 3 + i) * 3 + j];
  result[(blockIdx.z * gridDim.y + blockIdx.y) * out_rows * out_cols + pixel] = total;
}
