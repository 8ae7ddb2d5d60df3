// Fault: allocates device memory that outlives the launch.
// evo:launch allocates(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void allocates(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float* mine = static_cast<float*>(malloc(sizeof(float)));
  *mine = i < n ? x[i] : 0;
  if (i < n) y[i] = *mine + x[n - 1 - i];
  free(mine);
}
