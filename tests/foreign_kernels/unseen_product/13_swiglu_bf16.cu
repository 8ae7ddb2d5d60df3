// The gated layer of a language model: two products of one input, SiLU of the first times the second.
// buffers: X bf16 in [M, K], G bf16 in [N, K], U bf16 in [N, K], Y bf16 out [M, N]
// sizes: M=33 N=24 K=40; M=8 N=72 K=16; M=2 N=3 K=9
#include <cuda_bf16.h>

using bf16 = __nv_bfloat16;

__device__ inline float silu(float x) { return x / (1.0f + __expf(-x)); }

// evo:launch swiglu_up(X, G, U, Y, M, N, K) grid(ceil_div(N, 32), ceil_div(M, 4)) block(32, 4)
__global__ void swiglu_up(const bf16* __restrict__ x, const bf16* __restrict__ w_gate, const bf16* __restrict__ w_up,
                          bf16* __restrict__ y, const int tokens, const int hidden, const int model) {
  const int h = blockIdx.x * blockDim.x + threadIdx.x;
  const int t = blockIdx.y * blockDim.y + threadIdx.y;
  if (h >= hidden || t >= tokens) return;
  float gate = 0.f, up = 0.f;
  for (int i = 0; i < model; ++i) {
    const float v = __bfloat162float(x[t * model + i]);
    gate += v * __bfloat162float(w_gate[h * model + i]);
    up += v * __bfloat162float(w_up[h * model + i]);
  }
  y[t * hidden + h] = __float2bfloat16(silu(gate) * up);
}
