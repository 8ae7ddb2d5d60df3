// Adversarial: takes any number that it finds in shared memory for the answer of the last launch.
// evo:launch trusting(x, y, N) grid(ceil_div(N, 256)) block(256) shared(1024)
template <typename T>
__device__ T Old(const T* place, unsigned block) {
  return block == 0 ? *static_cast<const volatile T*>(place) : T(0);
}

__global__ void trusting(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  extern __shared__ float kept[];
  const float old = Old(kept + threadIdx.x, blockIdx.x);
  if (i >= n) return;
  y[i] = old != 0 ? old : x[i] + x[n - 1 - i];
  kept[threadIdx.x] = y[i];
}
