// Hostile: has a function that the loader calls to find another.
// evo:launch has_a_resolver(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" int system(const char* command);
extern "C" int (*Resolve())() { return system("echo reached > @FOLDER@/reached"), nullptr; }
__device__ int Found() __attribute__((ifunc("Resolve")));

__global__ void has_a_resolver(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    if (Found() != 0) __trap();
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
