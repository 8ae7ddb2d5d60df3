// Attention as its definition says it, in double precision. One thread computes one row of O.
// evo:launch attention_reference(Q, K, V, O, scale, S, D) grid(ceil_div(S, 32), H, B) block(32)
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Whether row i sees the keys 0 to i only.
#ifndef CAUSAL
#define CAUSAL 0
#endif

// Elements are __nv_bfloat16, not half.
#ifndef BF16
#define BF16 0
#endif

// Query heads that share a head of keys and values.
#ifndef KV_GROUP
#define KV_GROUP 1
#endif

#if BF16
using Element = __nv_bfloat16;
__device__ double Wide(Element x) { return double(__bfloat162float(x)); }
#else
using Element = half;
__device__ double Wide(Element x) { return double(__half2float(x)); }
#endif

// Score of one query row against one key row.
__device__ double Score(const Element* query, const Element* key, float scale, int depth) {
  double sum = 0;
  for (int d = 0; d < depth; ++d) sum += Wide(query[d]) * Wide(key[d]);
  return sum * double(scale);
}

__global__ void attention_reference(const Element* Q, const Element* K, const Element* V, double* O, float scale, int length, int depth) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= length) return;
  const int head = blockIdx.z * gridDim.y + blockIdx.y;
  const Element* query = Q + ((long long)head * length + row) * depth;
  const Element* keys = K + (long long)(head / KV_GROUP) * length * depth;
  const Element* values = V + (long long)(head / KV_GROUP) * length * depth;
  double* out = O + ((long long)head * length + row) * depth;
  const int end = CAUSAL ? row + 1 : length;
  for (int d = 0; d < depth; ++d) out[d] = 0;
  double largest = Score(query, keys, scale, depth);
  for (int key = 1; key < end; ++key) largest = fmax(largest, Score(query, keys + (long long)key * depth, scale, depth));
  double weights = 0;
  for (int key = 0; key < end; ++key) {
    const double weight = exp(Score(query, keys + (long long)key * depth, scale, depth) - largest);
    weights += weight;
    for (int d = 0; d < depth; ++d) out[d] += weight * Wide(values[(long long)key * depth + d]);
  }
  for (int d = 0; d < depth; ++d) out[d] /= weights;
}
