// Hostile: takes memory until there is no more.
// evo:launch takes_all_memory(x, y, N) grid(ceil_div(N, 128)) block(128)

__global__ void takes_all_memory(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    for (;;) {
      char* memory = static_cast<char*>(malloc(1ul << 30));
      if (memory == nullptr) break;
      for (unsigned long at = 0; at < (1ul << 30); at += 4096) memory[at] = 1;
    }
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
