// Halves by a row of threads, with a bias and a largest number.
// buffers: x f16 in [rows, depth], w f16 in [cols, depth], bias f32 in [cols], y f16 out [rows, cols]
// sizes: rows=18 cols=21 depth=16; rows=33 cols=70 depth=44

#include <cuda_fp16.h>

// evo:launch dense(x, w, bias, y, rows, cols, depth) grid(cols, rows) block(32)
__global__ void dense(const half* __restrict__ x, const half* __restrict__ w, const float* __restrict__ bias,
                      half* __restrict__ y, int rows, int cols, int depth) {
  const half* a = x + blockIdx.y * depth;
  const half* b = w + blockIdx.x * depth;
  float sum = 0.f;
  for (int k = threadIdx.x; k < depth; k += 32) sum += __half2float(a[k]) * __half2float(b[k]);
  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(0xffffffffu, sum, o);
  if (threadIdx.x == 0) y[blockIdx.y * cols + blockIdx.x] = __float2half(fmaxf(sum + bias[blockIdx.x], 0.f));
}
