// Four rows of a block, a warp for each, in place.
// buffers: M f64 inout [R, C]
// sizes: R=1 C=1; R=7 C=100; R=5 C=1025
// evo:launch along(M, R, C) grid(1, ceil_div(R, 4)) block(32, 4)

__global__ void along(double* m, int rows, int columns) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  double carry = 0.0;
  for (int start = 0; start < columns; start += warpSize) {
    const int i = start + threadIdx.x;
    double value = i < columns ? m[row * columns + i] : 0.0;
    for (int d = 1; d < warpSize; d *= 2) {
      const double left = __shfl_up_sync(0xffffffffu, value, d);
      if (threadIdx.x >= d) value += left;
    }
    value += carry;
    if (i < columns) m[row * columns + i] = value;
    carry = __shfl_sync(0xffffffffu, value, 31);
  }
}
