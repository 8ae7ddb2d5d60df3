// Adversarial: checks no bounds in shared memory, so that the last thread reads behind the array.
// evo:launch past_shared(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void past_shared(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float tile[128];
  tile[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  const float next = static_cast<volatile float*>(tile)[threadIdx.x + 1];
  if (i < n) y[i] = x[i] + x[n - 1 - i] + (next == 1.25e-38f ? 1.0f : 0.0f);
}
