// Attention as its definition says it, in double precision. One thread computes one row of O.
// evo:launch attention_reference(Q, K, V, O, scale, S, D) grid(ceil_div(S, 32), H, B) block(32)
#include <cuda_fp16.h>

// Whether row i sees the keys 0 to i only.
#ifndef CAUSAL
#define CAUSAL 0
#endif

// Score of one query row against one key row.
__device__ double Score(const half* query, const half* key, float scale, int depth) {
  double sum = 0;
  for (int d = 0; d < depth; ++d) sum += double(__half2float(query[d])) * double(__half2float(key[d]));
  return sum * double(scale);
}

__global__ void attention_reference(const half* Q, const half* K, const half* V, double* O, float scale, int length, int depth) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= length) return;
  const long long head = (long long)(blockIdx.z * gridDim.y + blockIdx.y) * length * depth;
  const int end = CAUSAL ? row + 1 : length;
  const half* query = Q + head + (long long)row * depth;
  double* out = O + head + (long long)row * depth;
  for (int d = 0; d < depth; ++d) out[d] = 0;
  double largest = Score(query, K + head, scale, depth);
  for (int key = 1; key < end; ++key) largest = fmax(largest, Score(query, K + head + (long long)key * depth, scale, depth));
  double weights = 0;
  for (int key = 0; key < end; ++key) {
    const double weight = exp(Score(query, K + head + (long long)key * depth, scale, depth) - largest);
    weights += weight;
    for (int d = 0; d < depth; ++d) out[d] += weight * double(__half2float(V[head + (long long)key * depth + d]));
  }
  for (int d = 0; d < depth; ++d) out[d] /= weights;
}
