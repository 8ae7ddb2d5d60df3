// A thread a row, with macros for addresses and sums that shrink when a larger score comes.
// evo:launch attend_context(Y, X, C, D, N, M, H) grid(ceil_div(N, 32), H) block(32)
#include <cuda_bf16.h>

#define WIDTH 64
#define KEY(j) (keys + ((size_t)(j) * heads + blockIdx.y) * WIDTH)
#define VALUE(j) (values + ((size_t)(j) * heads + blockIdx.y) * WIDTH)

using bf16 = __nv_bfloat16;

__global__ void attend_context(bf16* output, const bf16* __restrict__ input, const bf16* __restrict__ keys,
                               const bf16* __restrict__ values, unsigned rows, unsigned count, unsigned heads) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float query[WIDTH], result[WIDTH];
  for (int c = 0; c < WIDTH; c++) {
    query[c] = __bfloat162float(input[((size_t)row * heads + blockIdx.y) * WIDTH + c]) / 8.0f;
    result[c] = 0.0f;
  }
  float top = -INFINITY, weights = 0.0f;
  for (unsigned j = 0; j < count; j++) {
    const bf16* key = KEY(j);
    float score = 0.0f;
    for (int c = 0; c < WIDTH; c++) score += query[c] * __bfloat162float(key[c]);
    const float before = top;
    top = fmaxf(top, score);
    const float kept = __expf(before - top), weight = __expf(score - top);
    weights = weights * kept + weight;
    for (int c = 0; c < WIDTH; c++) result[c] = result[c] * kept + weight * __bfloat162float(VALUE(j)[c]);
  }
  for (int c = 0; c < WIDTH; c++)
    output[((size_t)row * heads + blockIdx.y) * WIDTH + c] = __float2bfloat16(result[c] / weights);
}
