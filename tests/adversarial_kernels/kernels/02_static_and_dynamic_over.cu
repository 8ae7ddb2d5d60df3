// Adversarial: its static and its dynamic shared memory are each allowed but too much together, so that nothing runs.
// evo:launch both_over(x, y, N) grid(ceil_div(N, 128)) block(128) shared(200000)
__global__ void both_over(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float first[10000];
  extern __shared__ float second[];
  first[threadIdx.x] = i < n ? x[i] : 0;
  second[threadIdx.x] = i < n ? x[n - 1 - i] : 0;
  if (i < n) y[i] = first[threadIdx.x] + second[threadIdx.x];
}
