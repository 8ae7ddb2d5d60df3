// Largest elements of windows as the definition says it. One thread computes one element.
// evo:launch max_pool_2d_reference(X, Y, N * C, H, W) grid(ceil_div(N * C * ((H + 1) / 2) * ((W + 1) / 2), 128)) block(128)

__global__ void max_pool_2d_reference(const float* X, double* Y, int planes, int height, int width) {
  const int rows = (height + 1) / 2;
  const int columns = (width + 1) / 2;
  const long long element = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (element >= (long long)planes * rows * columns) return;
  const long long plane = element / columns / rows;
  const int row = element / columns % rows;
  const int column = element % columns;
  double largest = -INFINITY;
  for (int y = 2 * row - 1; y <= 2 * row + 1; ++y) {
    for (int x = 2 * column - 1; x <= 2 * column + 1; ++x) {
      if (y >= 0 && y < height && x >= 0 && x < width) largest = fmax(largest, double(X[(plane * height + y) * width + x]));
    }
  }
  Y[element] = largest;
}
