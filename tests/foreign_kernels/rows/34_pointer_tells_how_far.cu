// buffers: X f32 in [R, C], Y f32 out [R]
// sizes: R=1 C=2; R=70 C=45
// evo:launch mean_by_distance(X, Y, R, C) grid(ceil_div(R, 128)) block(128)

// The pointer is read behind the loop: it tells how many elements there were.
__global__ void mean_by_distance(const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* p = x + row * columns;
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += *p++;
  y[row] = sum / (p - (x + row * columns));
}
