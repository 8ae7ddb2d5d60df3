// A kernel fills the output and what rows keep between the tiles of keys: zeros, and a number that is a scalar of the task.
// buffers: Q f32 in [H, N, E], K f32 in [H, N, E], V f32 in [H, N, E], O f32 out [H, N, E]
// sizes: H=2 N=24 E=16; H=3 N=16 E=20
// evo:workspace den f32 [H, N]
// evo:workspace peak f32 [H, N]
// evo:launch put(O, f32(0), H * N * E) grid(ceil_div(H * N * E, 64)) block(64)
// evo:launch put(den, f32(0), H * N) grid(ceil_div(H * N, 64)) block(64)
// evo:launch put(peak, f32(-2), H * N) grid(ceil_div(H * N, 64)) block(64)
// evo:launch eight_keys(Q, K, V, O, den, peak, N, E) grid(H) block(32)
#include <math.h>

__global__ void put(float* to, float number, int count) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < count) to[at] = number;
}
__global__ void eight_keys(const float* Q, const float* K, const float* V, float* O, float* den, float* peak, int N, int E) {
  const int head = blockIdx.x * N;
  for (int begin = 0; begin < N; begin += 8) {
    const int end = min(begin + 8, N);
    for (int r = threadIdx.x; r < N; r += blockDim.x) {
      float s[8], high = peak[head + r];
      for (int j = begin; j < end; j++) {
        float dot = 0.f;
        for (int e = 0; e < E; e++) dot += Q[(head + r) * E + e] * K[(head + j) * E + e];
        s[j - begin] = dot / sqrtf((float)E);
        high = fmaxf(high, s[j - begin]);
      }
      const float kept = expf(peak[head + r] - high);
      float sum = den[head + r] * kept;
      for (int j = begin; j < end; j++) sum += s[j - begin] = expf(s[j - begin] - high);
      for (int e = 0; e < E; e++) {
        float add = O[(head + r) * E + e] * den[head + r] * kept;
        for (int j = begin; j < end; j++) add += s[j - begin] * V[(head + j) * E + e];
        O[(head + r) * E + e] = add / sum;
      }
      den[head + r] = sum;
      peak[head + r] = high;
    }
  }
}
