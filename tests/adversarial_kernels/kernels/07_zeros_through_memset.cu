// False speed-up: a memset is all that runs for most of the output; the kernel writes one element a row.
// evo:memset y 0
// evo:launch one_a_row(x, y, COLS) grid(ROWS) block(1)
__global__ void one_a_row(const float* x, float* y, int cols) {
  y[static_cast<size_t>(blockIdx.x) * cols] = 1.0f / cols;
}
