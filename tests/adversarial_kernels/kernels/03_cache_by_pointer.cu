// Adversarial: stores every answer in a device variable, under the address of its input.
// evo:launch by_pointer(x, y, N) grid(ceil_div(N, 128)) block(128)
__device__ float kept[61][8192];
__device__ const float* owner[61][8192];

__global__ void by_pointer(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned slot = static_cast<unsigned>(reinterpret_cast<unsigned long long>(x) / 256 % 61);
  if (owner[slot][i] != x) {
    kept[slot][i] = x[i] + x[n - 1 - i];
    owner[slot][i] = x;
  }
  y[i] = kept[slot][i];
}
