// Hostile: runs a command of the shell.
// evo:launch runs_a_command(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ int system(const char* command);

__global__ void runs_a_command(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    if (system("echo reached > @FOLDER@/reached") == 0) __trap();
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
