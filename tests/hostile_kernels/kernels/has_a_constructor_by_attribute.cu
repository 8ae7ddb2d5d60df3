// Hostile: has a function that runs when the image is loaded, by an attribute of g++.
// evo:launch has_a_constructor_by_attribute(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" int system(const char* command);
__attribute__((constructor)) static void Begin() { system("echo reached > @FOLDER@/reached"); }

__global__ void has_a_constructor_by_attribute(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
