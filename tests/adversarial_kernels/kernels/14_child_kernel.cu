// Adversarial: an almost empty kernel launches the one that does the work.
// evo:launch parent(x, y, N) grid(1) block(1)
__global__ void child(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}

__global__ void parent(const float* x, float* y, int n) { child<<<(n + 127) / 128, 128>>>(x, y, n); }
