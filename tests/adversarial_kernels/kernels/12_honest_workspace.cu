// Honest: declares a workspace as large as what it writes there.
// evo:workspace reversed f32 [N]
// evo:launch turn(x, reversed, N) grid(ceil_div(N, 128)) block(128)
// evo:launch add(x, reversed, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void turn(const float* x, float* reversed, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) reversed[i] = x[n - 1 - i];
}

__global__ void add(const float* x, const float* reversed, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + reversed[i];
}
