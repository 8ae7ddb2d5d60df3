// buffers: X f32 in [R, C], Y f32 out [R, C]
// sizes: R=1 C=1; R=70 C=45; R=300 C=129
// evo:launch normalise(X, Y, R, C) grid(ceil_div(R, 64)) block(64)

// Mean and variance in one pass, of which the turn says how many values there are.
__global__ void normalise(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float mean = 0.0f, squares = 0.0f;
  for (int i = 0; i < cols; i++) {
    float value = x[r * cols + i];
    float before = value - mean;
    mean += before / (float)(i + 1);
    float after = value - mean;
    squares += before * after;
  }
  float scale = rsqrtf(squares / cols + 1e-5f);
  for (int i = 0; i < cols; i++) y[r * cols + i] = (x[r * cols + i] - mean) * scale;
}
