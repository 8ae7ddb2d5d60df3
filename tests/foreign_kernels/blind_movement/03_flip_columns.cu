// Mirrored batches for training: four-dimensional blocks of work as loops with strides over rows, a flag a sample.
// buffers: x f32 in [N, R, W], flags i32<2 in [N], y f32 out [N, R, W]
// sizes: N=1 R=1 W=1; N=3 R=7 W=20; N=2 R=9 W=128
__global__ void random_flip(const float* x, const int* flags, float* y, int R, int W) {
  const int n = blockIdx.z;
  const bool flip = flags[n] != 0;
  const float* xs = x + (size_t)n * R * W;
  float* ys = y + (size_t)n * R * W;
  for (int r = blockIdx.y * blockDim.y + threadIdx.y; r < R; r += gridDim.y * blockDim.y) {
    for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < W; c += gridDim.x * blockDim.x) {
      ys[r * W + c] = flip ? xs[r * W + (W - 1 - c)] : xs[r * W + c];
    }
  }
}
// evo:launch random_flip(x, flags, y, R, W) grid(2, 2, N) block(32, 4)
