// buffers: X f32 inout [R, C], Y f32 out [R, C]
// sizes: R=1 C=1; R=70 C=45; R=3 C=2500
// evo:launch running_totals(X, Y, R, C) grid(ceil_div(R, 64)) block(64)

// Totals of the squares so far, and in the place of each value the total without it.
__global__ void running_totals(float* x, float* y, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float total = 0.25f;
  for (int c = 0; c < columns; c++) {
    float v = x[row * columns + c];
    float square = v * v;
    x[row * columns + c] = total;
    total += square;
    y[row * columns + c] = total;
  }
}
