// A convolution as a signal engineer writes it: the mask is turned round by its index, in double.
// buffers: in f64 in [h, w], mask f64 in [3, 3], out f64 out [h, w]
// sizes: h=7 w=9; h=20 w=33; h=1 w=2
// evo:launch conv2(in, mask, out, w, h) grid(ceil_div(w, 16), ceil_div(h, 16)) block(16, 16)
__global__ void conv2(const double *in, const double *mask, double *out, int width, int height) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= height || col >= width) return;
  double sum = 0.0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int r = row - i + 1, c = col - j + 1;
      if (r >= 0 && r < height && c >= 0 && c < width) sum += in[r * width + c] * mask[i * 3 + j];
    }
  out[row * width + col] = sum;
}
