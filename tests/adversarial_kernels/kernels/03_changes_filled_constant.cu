// Counts its launches in a weight, which evo fills before each of them; after all threads have read it, so that nothing races.
// evo:constant weights = w
// evo:launch filtered(x, y, b, N) grid(1) block(128)
__constant__ float weights[5];

__global__ void filtered(const float* x, float* y, float b, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float sum = b;
    for (int k = 0; k < 5; ++k) sum += weights[k] * x[i + k];
    y[i] = sum;
  }
  __syncthreads();
  if (threadIdx.x == 0) const_cast<float*>(weights)[4] += 1;
}
