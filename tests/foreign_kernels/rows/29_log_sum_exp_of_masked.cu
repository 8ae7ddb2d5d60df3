// buffers: X f32 in [R, C], M i32<4 in [R, C], Y f32 out [R], T f32 out [R]
// sizes: R=1 C=1; R=300 C=3; R=300 C=45; R=30 C=1129
// evo:launch masked_lse(X, M, Y, T, R, C) grid(ceil_div(R, 64)) block(64)

// What is masked does not count; a row that is masked altogether has no sum.
__global__ void masked_lse(const float* x, const int* mask, float* lse, float* top, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* values = x + row * columns;
  const int* keep = mask + row * columns;
  float largest = -INFINITY;
  for (int c = 0; c < columns; ++c) {
    const float v = keep[c] > 0 ? values[c] : -INFINITY;
    largest = fmaxf(largest, v);
  }
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) {
    const float v = keep[c] > 0 ? values[c] : -INFINITY;
    sum += expf(v - largest);
  }
  lse[row] = largest + logf(sum);
  top[row] = largest > -1e30f ? largest : -100.0f;
}
