// Hostile: has a variable whose first value is computed when the image is loaded, before any check.
// evo:launch has_a_static_constructor(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" int system(const char* command);
static int started = system("echo reached > @FOLDER@/reached");

__global__ void has_a_static_constructor(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
