// Attention as its definition says it, in double precision. One thread computes one element of O.
// evo:launch attention_reference(Q, K, V, O, scale, S, D) grid(S, H, B) block(D)
#include <cuda_fp16.h>

// Score of one query row against one key row.
__device__ double Score(const half* query, const half* key, float scale, int depth) {
  double sum = 0;
  for (int d = 0; d < depth; ++d) sum += double(__half2float(query[d])) * double(__half2float(key[d]));
  return sum * double(scale);
}

__global__ void attention_reference(const half* Q, const half* K, const half* V, double* O, float scale, int length, int depth) {
  const int row = blockIdx.x;
  const int column = threadIdx.x;
  const long long head = (long long)(blockIdx.z * gridDim.y + blockIdx.y) * length * depth;
  const half* query = Q + head + (long long)row * depth;
  double largest = Score(query, K + head, scale, depth);
  for (int key = 1; key < length; ++key) largest = fmax(largest, Score(query, K + head + (long long)key * depth, scale, depth));
  double weights = 0;
  double sum = 0;
  for (int key = 0; key < length; ++key) {
    const double weight = exp(Score(query, K + head + (long long)key * depth, scale, depth) - largest);
    weights += weight;
    sum += weight * double(__half2float(V[head + (long long)key * depth + column]));
  }
  O[head + (long long)row * depth + column] = sum / weights;
}
