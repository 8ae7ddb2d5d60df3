// buffers: X f32 in [M, N], W f32 in [N], Y f32 out [M, N], S f32 out [M]
// sizes: M=1 N=1; M=9 N=300; M=6 N=1025
// evo:launch norm_warps(X, W, Y, S, M, N) grid(ceil_div(M * 32, 128)) block(128)

#define WARP 32
#define FULL 0xffffffffu

// A warp a row, four of them in a block: a sum and a sum of squares on the way.
__global__ void norm_warps(const float *__restrict__ x, const float *w, float *y, float *deviations, unsigned rows, unsigned n) {
  const int lane = threadIdx.x & (WARP - 1);
  const unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
  if (row >= rows) return;
  x += (size_t)row * n;
  float total = 0.0f, squares = 0.0f;
  for (unsigned i = lane; i < n; i += WARP) {
    float v = x[i];
    total += v;
    squares = fmaf(v, v, squares);
  }
#pragma unroll
  for (int step = WARP / 2; step > 0; step >>= 1) {
    total += __shfl_down_sync(FULL, total, step);
    squares += __shfl_down_sync(FULL, squares, step);
  }
  total = __shfl_sync(FULL, total, 0);
  squares = __shfl_sync(FULL, squares, 0);
  float mean = total / n, scale = rsqrtf(squares / n - mean * mean + 1e-4f);
  if (lane == 0 && deviations != nullptr) deviations[row] = scale;
  for (unsigned i = lane; i < n; i += WARP) y[(size_t)row * n + i] = (x[i] - mean) * scale * w[i];
}
