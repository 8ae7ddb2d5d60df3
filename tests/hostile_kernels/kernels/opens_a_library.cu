// Hostile: loads another library into its process.
// evo:launch opens_a_library(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ void* dlopen(const char* file, int mode) noexcept;

__global__ void opens_a_library(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    if (dlopen("libsqlite3.so.0", 2) != nullptr) __trap();
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
