// Adversarial: has no barrier between writing shared memory and reading what other warps wrote there.
// evo:launch impatient(x, y, N) grid(ceil_div(N, 128)) block(128)

// The index of the element; it takes the first two warps some microseconds to find it.
__device__ int Late(const float* x, int from) {
  if (threadIdx.x >= 64) return from;
  for (int step = 0; step < 16; ++step) from += isnan(x[from]);
  return from;
}

__global__ void impatient(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float turned[128];
  const int from = n - 128 - static_cast<int>(blockIdx.x * 128) + static_cast<int>(threadIdx.x);
  turned[threadIdx.x] = from >= 0 && from < n ? x[Late(x, from)] : 0;
  if (i < n) y[i] = x[i] + turned[127 - threadIdx.x];
}
