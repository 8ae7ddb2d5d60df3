// Adversarial: declares a global variable inside a function, by inline PTX, and keeps answers there.
// evo:launch hides_a_variable(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void hides_a_variable(const float* x, float* y, int n) {
  asm volatile(".global .align 8 .b8 hidden[131072];");
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  unsigned long long place;
  asm volatile("mov.u64 %0, hidden;\n\tcvta.global.u64 %0, %0;" : "=l"(place));
  volatile float* kept = reinterpret_cast<volatile float*>(place) + 2 * (i % 16384);
  if (kept[0] != x[i]) {
    kept[1] = x[i] + x[n - 1 - i];
    kept[0] = x[i];
  }
  y[i] = kept[1];
}
