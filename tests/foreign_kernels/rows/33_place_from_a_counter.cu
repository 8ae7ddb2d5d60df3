// buffers: X f32 in [R, C], Y f32 out [R], N i32 out [1]
// sizes: R=1 C=2; R=70 C=45
// evo:memset N 0
// evo:launch keep_positive(X, Y, N, R, C) grid(ceil_div(R, 128)) block(128)

// Each row whose sum is positive takes a place: what the atomic gives is used.
__global__ void keep_positive(const float* x, float* y, int* count, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += x[row * columns + c];
  if (sum > 0.0f) {
    const int place = atomicAdd(count, 1);
    y[place] = 1.0f;
  }
}
