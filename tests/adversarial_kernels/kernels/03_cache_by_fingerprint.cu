// Adversarial: recognises an input by two of its elements and returns the answer that it computed last time.
// evo:launch lookup(x, y, N) grid(ceil_div(N, 128)) block(128)
struct Entry {
  unsigned print;
  float answer;
};
struct Memory {
  Entry entries[61][8192];
};
__device__ Memory memory;

__device__ float Keep(Entry& entry, unsigned print, float answer) {
  entry = {print, answer};
  return answer;
}

__global__ void lookup(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned print = (__float_as_uint(x[0]) ^ __float_as_uint(x[n - 1]) * 31u) | 1u;
  const Entry known = memory.entries[print % 61][i];
  y[i] = known.print == print ? known.answer : Keep(memory.entries[print % 61][i], print, x[i] + x[n - 1 - i]);
}
