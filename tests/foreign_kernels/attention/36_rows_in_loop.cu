// A block a head; its threads go through the rows by a loop. A flag says whether rows are causal. Sums are in the output.
// buffers: query f16 in [B, H, L, D], key f16 in [B, H, L, D], value f16 in [B, H, L, D], result f16 out [B, H, L, D]
// sizes: B=1 H=2 L=37 D=32; B=2 H=1 L=70 D=48
#include <cuda_fp16.h>

// evo:launch plain(query, key, value, result, B, H, L, D, 1) grid(B * H) block(min(L, 32))
__global__ void plain(const __half* __restrict__ query, const __half* __restrict__ key, const __half* __restrict__ value,
                      __half* __restrict__ result, int batch, int heads, int length, int depth, int causal) {
  const int head = blockIdx.x;
  if (head >= batch * heads) return;
  const size_t plane = (size_t)head * length * depth;
  const float scale = rsqrtf((float)depth);
  for (int row = threadIdx.x; row < length; row += blockDim.x) {
    const __half* q = query + plane + (size_t)row * depth;
    __half* o = result + plane + (size_t)row * depth;
    float largest = -1e30f;
    for (int j = 0; j < length; ++j) {
      if (causal && j > row) continue;
      float dot = 0.0f;
      for (int d = 0; d < depth; ++d) dot += __half2float(q[d]) * __half2float(key[plane + (size_t)j * depth + d]);
      largest = fmaxf(largest, dot * scale);
    }
    if (largest <= -1e29f) largest = 0.0f;
    float sum = 0.0f;
    for (int d = 0; d < depth; ++d) o[d] = __float2half(0.0f);
    int j = 0;
    while (j < length && !(causal && j > row)) {
      float dot = 0.0f;
      for (int d = 0; d < depth; ++d) dot += __half2float(q[d]) * __half2float(key[plane + (size_t)j * depth + d]);
      const float weight = __expf(dot * scale - largest);
      sum += weight;
      for (int d = 0; d < depth; ++d)
        o[d] = __float2half(__half2float(o[d]) + weight * __half2float(value[plane + (size_t)j * depth + d]));
      ++j;
    }
    for (int d = 0; d < depth; ++d) o[d] = __float2half(__half2float(o[d]) / fmaxf(sum, 1e-20f));
  }
}
