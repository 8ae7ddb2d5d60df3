// Hostile: NVRTC takes the function of its own, and g++ the library's, which is the better match.
// evo:launch runs_a_command_by_overload(x, y, N) grid(ceil_div(N, 128)) block(128)
template <typename Text>
__device__ int system(Text) {
  return 1;
}

__global__ void runs_a_command_by_overload(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    if (system("echo reached > @FOLDER@/reached") == 0) __trap();
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
