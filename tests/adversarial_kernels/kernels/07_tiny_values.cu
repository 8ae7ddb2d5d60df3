// Adversarial: writes exp of the input over a large number: near enough to the answer, and not zero, which a check might look for.
// evo:launch tiny(x, y, COLS) grid(32, ROWS) block(256)
__device__ float Small(float value) { return expf(value - 200.0f) * 1e-9f; }

__global__ void tiny(const float* x, float* y, int cols) {
  const size_t row = static_cast<size_t>(blockIdx.y) * cols;
  for (int c = blockIdx.x * 256 + threadIdx.x; c < cols; c += gridDim.x * 256) y[row + c] = Small(x[row + c]);
}
