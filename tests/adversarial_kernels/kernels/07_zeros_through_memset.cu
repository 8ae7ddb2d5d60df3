// Adversarial: writes one element of each row; a memset sets the rest of the output to zero.
// evo:memset y 0
// evo:launch one_a_row(x, y, COLS) grid(ROWS) block(1)
__global__ void one_a_row(const float* x, float* y, int cols) {
  y[static_cast<size_t>(blockIdx.x) * cols] = 1.0f / cols;
}
