// Adversarial: the variable inside the function has the name of one of the module, which is watched and never written.
// evo:launch two_of_a_name(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ float watched[32768];
__device__ float watched[32768];

__global__ void two_of_a_name(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  unsigned long long place;
  asm volatile("{\n\t.global .align 8 .b8 watched[131072];\n\tmov.u64 %0, watched;\n\tcvta.global.u64 %0, %0;\n\t}" : "=l"(place));
  volatile float* kept = reinterpret_cast<volatile float*>(place) + 2 * (i % 16384);
  if (kept[0] != x[i]) {
    kept[1] = x[i] + x[n - 1 - i];
    kept[0] = x[i];
  }
  y[i] = kept[1] + 0 * watched[0];
}
