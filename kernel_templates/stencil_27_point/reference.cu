// The 27-point stencil as its definition says it, in double precision. One thread computes one element.
// evo:launch stencil_27_point_reference(X, a, Y, D, H, W) grid(ceil_div(D * H * W, 128)) block(128)

__global__ void stencil_27_point_reference(const float* X, const float* a, double* Y, int depth, int height, int width) {
  const long long element = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (element >= (long long)depth * height * width) return;
  const int x = element % width;
  const int y = element / width % height;
  const int z = element / width / height;
  if (x == 0 || x == width - 1 || y == 0 || y == height - 1 || z == 0 || z == depth - 1) {
    Y[element] = X[element];
    return;
  }
  double sum = 0;
  for (int k = -1; k <= 1; ++k) {
    for (int j = -1; j <= 1; ++j) {
      for (int i = -1; i <= 1; ++i) {
        const int distance = abs(i) + abs(j) + abs(k);
        sum += double(a[distance]) * double(X[((long long)(z + k) * height + y + j) * width + x + i]);
      }
    }
  }
  Y[element] = sum;
}
