// Depthwise layer of a mobile network, as a layer added to an old framework: the window is clipped before the loops.
// buffers: X f32 in [N, C, H, W], F f32 in [C, 1, 3, 3], B f32 in [C], Y f32 out [N, C, OH, OW]
// sizes: N=2 C=5 H=11 W=13 OH=6 OW=7; N=1 C=3 H=8 W=20 OH=4 OW=10; N=3 C=1 H=5 W=6 OH=3 OW=3
template <typename Real>
__global__ void depthwise_forward(const int count, const Real* const src, const Real* const filters, const Real* const biases,
                                  Real* const dst, const int channels, const int rows, const int cols, const int out_rows,
                                  const int out_cols, const int ksize, const int stride, const int pad) {
  for (int idx = blockIdx.x * blockDim.x + threadIdx.x; idx < count; idx += blockDim.x * gridDim.x) {
    const int ox = idx % out_cols;
    const int oy = (idx / out_cols) % out_rows;
    const int ch = (idx / out_cols / out_rows) % channels;
    const int img = idx / out_cols / out_rows / channels;
    const int top = oy * stride - pad;
    const int left = ox * stride - pad;
    const int y_begin = max(top, 0);
    const int x_begin = max(left, 0);
    const int y_end = min(top + ksize, rows);
    const int x_end = min(left + ksize, cols);
    const Real* const plane = src + (img * channels + ch) * rows * cols;
    const Real* const taps = filters + ch * ksize * ksize;
    Real sum = 0;
    for (int y = y_begin; y < y_end; ++y) {
      for (int x = x_begin; x < x_end; ++x) {
        sum += plane[y * cols + x] * taps[(y - top) * ksize + (x - left)];
      }
    }
    if (biases != nullptr) sum += biases[ch];
    dst[idx] = sum;
  }
}
// evo:launch depthwise_forward<float>(N * C * OH * OW, X, F, B, Y, C, H, W, OH, OW, 3, 2, 1) grid(ceil_div(N * C * OH * OW, 256)) block(256)
