// Adversarial: computes four elements at a time and leaves out the one to three that remain.
// evo:launch whole_vectors(x, y, N) grid(ceil_div(N, 512)) block(128)
__global__ void whole_vectors(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i + 3 >= n) return;
  const float* from = x + n - 1 - 4 * i;
  reinterpret_cast<float4*>(y)[i] = make_float4(x[4 * i] + from[0], x[4 * i + 1] + from[-1], x[4 * i + 2] + from[-2], x[4 * i + 3] + from[-3]);
}
