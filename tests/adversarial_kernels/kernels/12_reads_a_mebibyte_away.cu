// Adversarial: reads past the end of its input, and the sum happens to be right.
// evo:launch far_read(x, y, N) grid(ceil_div(N, 128)) block(128)
__device__ float Nothing(const float* from) { return *static_cast<const volatile float*>(from) == 1.25e-38f ? 1.0f : 0.0f; }

__global__ void far_read(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i] + Nothing(x + 262144 + i);
}
