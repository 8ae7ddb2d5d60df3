// evo:launch layer(X, W, bias, Y, M, N, K) grid(ceil_div(M, 16), ceil_div(N, 16)) block(16, 16)
#include <cuda_bf16.h>

// One thread an output.
__global__ void layer(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w, const float* __restrict__ bias,
                      float* __restrict__ y, int tokens, int features, int inputs) {
  const int token = blockIdx.x * blockDim.x + threadIdx.x;
  const int feature = blockIdx.y * blockDim.y + threadIdx.y;
  if (token >= tokens) return;
  if (feature >= features) return;
  const __nv_bfloat16* row = w + (size_t)feature * inputs;
  float sum = 0.0f;
  for (int i = 0; i < inputs; ++i) sum += (float)x[(size_t)i * tokens + token] * (float)row[i];
  sum += bias[feature];
  // Negative sums are 0.
  if (sum < 0.0f) sum = 0.0f;
  y[(size_t)token * features + feature] = sum;
}
