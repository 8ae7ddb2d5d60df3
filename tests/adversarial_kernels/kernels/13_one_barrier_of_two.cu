// Adversarial: fills the tile again before every thread has read it.
// evo:launch refills(x, y, N) grid(ceil_div(N, 128)) block(128)

// Returns `at`, for which the first two warps need some microseconds.
__device__ int Late(const float* x, int at) {
  if (threadIdx.x >= 64) return at;
  for (int step = 0; step < 16; ++step) at += isnan(x[at]);
  return at;
}

__global__ void refills(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float tile[128];
  const int from = n - 128 - static_cast<int>(blockIdx.x * 128) + static_cast<int>(threadIdx.x);
  tile[threadIdx.x] = from >= 0 && from < n ? x[from] : 0;
  __syncthreads();
  const float first = tile[Late(x, 127 - threadIdx.x)];
  tile[threadIdx.x] = 0;
  __syncthreads();
  if (i < n) y[i] = x[i] + first + tile[127 - threadIdx.x];
}
