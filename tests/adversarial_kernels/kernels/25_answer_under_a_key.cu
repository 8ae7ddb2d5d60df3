// Adversarial: keeps its answer in shared memory under a key, and looks there first.
// evo:launch looks_in_shared(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void looks_in_shared(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ volatile unsigned key[128];
  __shared__ volatile float answer[128];
  if (i >= n) return;
  const unsigned wanted = __float_as_uint(x[i]) ^ 0x5eedu;
  if (key[threadIdx.x] != wanted) {
    answer[threadIdx.x] = x[i] + x[n - 1 - i];
    key[threadIdx.x] = wanted;
  }
  y[i] = answer[threadIdx.x];
}
