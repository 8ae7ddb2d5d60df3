// Means of windows as the definition says it, in double precision. One thread computes one element.
// evo:launch average_pool_reference(X, Y, N * C, H, W) grid(ceil_div(N * C * H * W, 128)) block(128)

__global__ void average_pool_reference(const float* X, double* Y, int planes, int height, int width) {
  const long long element = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (element >= (long long)planes * height * width) return;
  const long long plane = element / width / height;
  const int row = element / width % height;
  const int column = element % width;
  double sum = 0;
  int count = 0;
  for (int y = row - 1; y <= row + 1; ++y) {
    for (int x = column - 1; x <= column + 1; ++x) {
      if (y < 0 || y >= height || x < 0 || x >= width) continue;
      sum += double(X[(plane * height + y) * width + x]);
      ++count;
    }
  }
  Y[element] = sum / count;
}
