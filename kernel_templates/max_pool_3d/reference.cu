// Largest elements of windows as the definition says it. One thread computes one element.
// evo:launch max_pool_3d_reference(X, Y, N * C, D, H, W) \
//   grid(ceil_div(N * C * ((D + 1) / 2) * ((H + 1) / 2) * ((W + 1) / 2), 128)) block(128)

__global__ void max_pool_3d_reference(const float* X, double* Y, int volumes, int depth, int height, int width) {
  const int layers = (depth + 1) / 2;
  const int rows = (height + 1) / 2;
  const int columns = (width + 1) / 2;
  const long long element = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (element >= (long long)volumes * layers * rows * columns) return;
  const long long volume = element / columns / rows / layers;
  const int layer = element / columns / rows % layers;
  const int row = element / columns % rows;
  const int column = element % columns;
  double largest = -INFINITY;
  for (int z = 2 * layer - 1; z <= 2 * layer + 1; ++z) {
    for (int y = 2 * row - 1; y <= 2 * row + 1; ++y) {
      for (int x = 2 * column - 1; x <= 2 * column + 1; ++x) {
        if (z < 0 || z >= depth || y < 0 || y >= height || x < 0 || x >= width) continue;
        largest = fmax(largest, double(X[((volume * depth + z) * height + y) * width + x]));
      }
    }
  }
  Y[element] = largest;
}
