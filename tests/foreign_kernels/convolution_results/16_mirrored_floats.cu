// A convolution of an image as a signal engineer writes it, the mask in constant memory and turned round, two rows a thread.
// buffers: img f32 in [h, w], k f32 in [3, 5], res f32 out [h, w]
// sizes: h=7 w=9; h=20 w=33; h=1 w=2
__constant__ float mask[15];
// evo:constant mask = k
// evo:launch conv2(img, res, w, h) grid(ceil_div(w, 16), ceil_div(h, 16)) block(16, 8)
__global__ void conv2(const float *in, float *out, int width, int height) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= width) return;
  for (int t = 0; t < 2; t++) {
    int row = (blockIdx.y * 2 + t) * blockDim.y + threadIdx.y;
    if (row >= height) break;
    float sum = 0.0f;
    for (int i = -1; i <= 1; i++)
      for (int j = -2; j <= 2; j++) {
        int r = row - i, c = col - j;
        float v = r >= 0 && r < height && c >= 0 && c < width ? in[r * width + c] : 0.0f;
        sum += v * mask[(i + 1) * 5 + j + 2];
      }
    out[row * width + col] = sum;
  }
}
