// Attention as its definition says it, in double precision. One block computes one row of O: threads share the
// keys, then the columns. (With a thread for each row 4 x 16 heads of 4,096 keys took seconds for every set of inputs.)
// evo:launch attention_reference(Q, K, V, O, scale, S, D) grid(S, H, B) block(64)
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Of a block, as the launch says.
#define THREADS 64

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

// The largest of the block's values, or their sum, for all its threads; `shared` has room for one of each.
__device__ double Largest(double value, double* shared) {
  __syncthreads();
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int i = 0; i < THREADS; ++i) value = fmax(value, shared[i]);
  return value;
}
__device__ double Sum(double value, double* shared) {
  __syncthreads();
  shared[threadIdx.x] = value;
  __syncthreads();
  double sum = 0;
  for (int i = 0; i < THREADS; ++i) sum += shared[i];
  return sum;
}

__global__ void attention_reference(const Element* Q, const Element* K, const Element* V, double* O, float scale, int length, int depth) {
  __shared__ double shared[THREADS];
  const int row = blockIdx.x;
  const int head = blockIdx.z * gridDim.y + blockIdx.y;
  const Element* query = Q + ((long long)head * length + row) * depth;
  const Element* keys = K + (long long)(head / KV_GROUP) * length * depth;
  const Element* values = V + (long long)(head / KV_GROUP) * length * depth;
  double* out = O + ((long long)head * length + row) * depth;
  const int end = CAUSAL ? row + 1 : length;
  double largest = Score(query, keys, scale, depth);
  for (int key = threadIdx.x; key < end; key += THREADS) largest = fmax(largest, Score(query, keys + (long long)key * depth, scale, depth));
  largest = Largest(largest, shared);
  // As many columns at a time as there are threads; their weights for as many keys at a time.
  for (int first_column = 0; first_column < depth; first_column += THREADS) {
    const int column = first_column + threadIdx.x;
    double weights = 0;
    double sum = 0;
    for (int first = 0; first < end; first += THREADS) {
      const int key = first + threadIdx.x;
      const double weight = key < end ? exp(Score(query, keys + (long long)key * depth, scale, depth) - largest) : 0;
      weights += weight;
      __syncthreads();
      shared[threadIdx.x] = weight;
      __syncthreads();
      for (int i = 0; i < THREADS && first + i < end && column < depth; ++i) sum += shared[i] * Wide(values[(long long)(first + i) * depth + column]);
    }
    weights = Sum(weights, shared);
    if (column < depth) out[column] = sum / weights;
  }
}
