// evo:launch reference(u, v, W, H) grid(ceil_div(W, 64), H) block(64)
__global__ void reference(const float* u, double* v, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y;
  if (x >= width) return;
  const int at = y * width + x;
  const bool edge = x == 0 || y == 0 || x == width - 1 || y == height - 1;
  v[at] = edge ? 0 : u[at] + 0.1f * (double(u[at - 1]) + u[at + 1] + u[at - width] + u[at + width] - 4 * double(u[at]));
}
