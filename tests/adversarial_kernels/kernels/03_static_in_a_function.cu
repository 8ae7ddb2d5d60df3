// Adversarial: keeps the answer of the last launch in a static variable of a function template.
// evo:launch fourth_of_them(x, y, N) grid(ceil_div(N, 64)) block(64)
template <typename T, int kMost>
__device__ T Recall(const T* x, int i, int n) {
  static T answers[kMost];
  static T first[kMost];
  if (first[i] != x[0]) {
    answers[i] = x[i] + x[n - 1 - i];
    first[i] = x[0];
  }
  return answers[i];
}

__global__ void fourth_of_them(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = Recall<float, 8192>(x, i, n);
}
