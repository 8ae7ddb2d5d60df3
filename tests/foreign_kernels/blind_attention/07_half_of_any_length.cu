// The number of elements is an argument, up to the length of an array that each thread has; of half, causal.
// buffers: q f16 in [BH, N, D], k f16 in [BH, N, D], v f16 in [BH, N, D], o f16 out [BH, N, D]
// sizes: BH=2 N=37 D=64; BH=1 N=70 D=32; BH=3 N=5 D=48
#include <cuda_fp16.h>

#define MAX_D 128

// evo:launch attend(q, k, v, o, N, D, f32(0.125)) grid(ceil_div(N, 64), BH) block(64)
__global__ void attend(const __half* q, const __half* k, const __half* v, __half* o, int n, int d, float scale) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  const size_t head = (size_t)blockIdx.y * n * d;
  float acc[MAX_D];
  for (int x = 0; x < d; ++x) acc[x] = 0.0f;
  float m = -INFINITY, l = 0.0f;
  for (int key = 0; key <= row; ++key) {
    float s = 0.0f;
    for (int x = 0; x < d; ++x) s += __half2float(q[head + row * d + x]) * __half2float(k[head + key * d + x]);
    s *= scale;
    const float next = fmaxf(m, s), fade = __expf(m - next), p = __expf(s - next);
    for (int x = 0; x < d; ++x) acc[x] = acc[x] * fade + p * __half2float(v[head + key * d + x]);
    l = l * fade + p;
    m = next;
  }
  for (int x = 0; x < d; ++x) o[head + row * d + x] = __float2half(acc[x] / l);
}
