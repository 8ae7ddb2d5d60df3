// buffers: Q f16 inout [S, NH, D], C f32 in [S, D / 2], SN f32 in [S, D / 2]
// sizes: S=1 NH=1 D=2; S=5 NH=3 D=16; S=7 NH=4 D=64
// evo:launch rope_kernel(Q, C, SN, NH, D) grid(S, NH) block(D / 2)
#include <cuda_fp16.h>

// One block a token and a head, halves rotated against each other.
__global__ void rope_kernel(half* q, const float* cos_table, const float* sin_table, int num_heads, int head_dim) {
  const int token = blockIdx.x;
  const int head = blockIdx.y;
  const int i = threadIdx.x;
  const int half_dim = head_dim / 2;
  half* base = q + (token * num_heads + head) * head_dim;
  const float c = cos_table[token * half_dim + i];
  const float s = sin_table[token * half_dim + i];
  const float a = __half2float(base[i]);
  const float b = __half2float(base[i + half_dim]);
  base[i] = __float2half(a * c - b * s);
  base[i + half_dim] = __float2half(a * s + b * c);
}
