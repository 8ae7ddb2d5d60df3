// One step of the heat equation as its definition says it, in double precision. One thread computes one element.
// evo:launch stencil_5_point_reference(X, Y, alpha, H, W) grid(ceil_div(H * W, 128)) block(128)

__global__ void stencil_5_point_reference(const float* X, double* Y, float alpha, int height, int width) {
  const long long element = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (element >= (long long)height * width) return;
  const int row = element / width;
  const int column = element % width;
  double value = X[element];
  if (row > 0 && row < height - 1 && column > 0 && column < width - 1) {
    const double north = X[element - width];
    const double south = X[element + width];
    const double west = X[element - 1];
    const double east = X[element + 1];
    value += double(alpha) * (north + south + west + east - 4 * value);
  }
  Y[element] = value;
}
