// evo:launch reference(image, filter, bias, result, W, H) grid(ceil_div(W, 32), H) block(32)
__global__ void reference(const float* image, const float* filter, float bias, double* result, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y;
  if (x >= w) return;
  double sum = bias;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      if (x + dx < 0 || x + dx >= w || y + dy < 0 || y + dy >= h) continue;
      sum += double(filter[(dy + 1) * 3 + dx + 1]) * double(image[(y + dy) * w + x + dx]);
    }
  }
  result[y * w + x] = sum;
}
