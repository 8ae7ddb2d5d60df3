// Hostile: has an object whose constructor runs when the image is loaded.
// evo:launch has_an_object(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" int system(const char* command);
struct Starter {
  Starter() { system("echo reached > @FOLDER@/reached"); }
};
static Starter starter;

__global__ void has_an_object(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
