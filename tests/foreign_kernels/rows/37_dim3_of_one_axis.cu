// buffers: X f32 in [B, R, C], Y f32 out [B, R]
// sizes: B=1 R=1 C=1; B=3 R=70 C=45
// evo:launch row_norms(X, Y, R, C) grid(ceil_div(R, 64), B, 1) block(64, 1, 1)

// As dim3 has it: three numbers of a block, two of which are one.
__global__ void row_norms(const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* const of_batch = x + (long long)blockIdx.y * rows * columns;
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += of_batch[row * columns + c] * of_batch[row * columns + c];
  y[blockIdx.y * rows + row] = sqrtf(sum);
}
