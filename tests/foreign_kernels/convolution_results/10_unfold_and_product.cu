// A framework's way: one kernel unfolds the image to columns, another one multiplies by the filters and adds the bias.
// buffers: data f32 in [C, H, W], weight f32 in [K, C, 3, 3], bias f32 in [K], top f32 out [K, H - 2, W - 2]
// sizes: C=3 H=6 W=8 K=4; C=2 H=5 W=19 K=3; C=1 H=3 W=3 K=2
// evo:workspace columns f32 [C * 9 * (H - 2) * (W - 2)]
// evo:launch im2col(C * (H - 2) * (W - 2), data, H, W, H - 2, W - 2, columns) grid(ceil_div(C * (H - 2) * (W - 2), 128)) block(128)
// evo:launch gemm_bias(weight, columns, bias, top, K, (H - 2) * (W - 2), C * 9) grid(ceil_div((H - 2) * (W - 2), 16), ceil_div(K, 16)) block(16, 16)
__global__ void im2col(int n, const float* im, int height, int width, int height_col, int width_col, float* col) {
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= n) return;
  int w_out = index % width_col, h_out = index / width_col % height_col, channel = index / width_col / height_col;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      col[((channel * 9 + i * 3 + j) * height_col + h_out) * width_col + w_out] =
          im[(channel * height + h_out + i) * width + w_out + j];
}
__global__ void gemm_bias(const float* a, const float* b, const float* bias, float* c, int m, int n, int k) {
  int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= m || col >= n) return;
  float s = 0;
  for (int t = 0; t < k; ++t) s += a[row * k + t] * b[t * n + col];
  c[row * n + col] = s + bias[row];
}
