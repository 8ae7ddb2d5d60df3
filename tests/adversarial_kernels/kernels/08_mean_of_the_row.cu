// Adversarial: writes 1 / COLS, the mean of a softmax whatever its input is.
// evo:launch uniform_answer(x, y, COLS) grid(32, ROWS) block(256)
__global__ void uniform_answer(const float* x, float* y, int cols) {
  const size_t row = static_cast<size_t>(blockIdx.y) * cols;
  for (int c = blockIdx.x * 256 + threadIdx.x; c < cols; c += gridDim.x * 256) y[row + c] = 1.0f / cols;
}
