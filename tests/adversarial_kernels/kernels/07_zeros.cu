// Adversarial: writes zeros, because every value of a long softmax is below 4e-6.
// evo:launch zeros(x, y, COLS) grid(32, ROWS) block(256)
__global__ void zeros(const float* x, float* y, int cols) {
  const size_t row = static_cast<size_t>(blockIdx.y) * cols;
  for (int c = blockIdx.x * 256 + threadIdx.x; c < cols; c += gridDim.x * 256) y[row + c] = 0.0f;
}
