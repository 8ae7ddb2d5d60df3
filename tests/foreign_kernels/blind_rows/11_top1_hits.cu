// buffers: L bf16 in [B, V], T i64<4 in [B], HIT u8 out [B], HITS i32 out [1]
// sizes: B=1 V=4; B=70 V=33; B=130 V=100
// evo:memset HITS 0
// evo:launch top1_kernel<__nv_bfloat16, long long>(L, T, HIT, HITS, B, V) grid(ceil_div(B, 64)) block(64)
#include <cuda_bf16.h>

template <typename scalar_t, typename label_t>
__global__ void top1_kernel(const scalar_t* __restrict__ logits, const label_t* __restrict__ target,
                            unsigned char* __restrict__ hit, int* __restrict__ hits, const int batch, const int vocab) {
  const int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b < batch) {
    const scalar_t* row = logits + static_cast<size_t>(b) * vocab;
    float best = -INFINITY;
    int best_id = -1;
#pragma unroll 4
    for (int v = 0; v < vocab; ++v) {
      const float x = static_cast<float>(row[v]);
      if (best < x) {
        best = x;
        best_id = v;
      }
    }
    const bool ok = best_id == static_cast<int>(target[b]);
    hit[b] = ok ? 1 : 0;
    if (ok) atomicAdd(hits, 1);
  }
}
