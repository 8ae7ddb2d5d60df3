// Attention of one query for each head, three kernels: the scores, one thread a key; the weights, one block a head; the weighted
// values, one thread a column.
// evo:param KEYS 32 64 128 256
// evo:param THREADS 64 128 256 512
// evo:param UNROLL 1 2 4 8
// evo:workspace scores f32 [B, H, S]
// evo:launch attention_decode_scores(Q, K, scores, scale, S) grid(ceil_div(S, KEYS), B * H) block(KEYS)
// evo:launch attention_decode_weights(scores, S) grid(B * H) block(THREADS)
// evo:launch attention_decode_values(scores, V, O, S) grid(B * H) block(128)
#include <cuda_fp16.h>

// Threads of a block of the first kernel.
#ifndef KEYS
#define KEYS 128
#endif

// Threads of a block of the second kernel.
#ifndef THREADS
#define THREADS 256
#endif

// How often the inner loops are unrolled.
#ifndef UNROLL
#define UNROLL 1
#endif

// Elements of a row.
#define HEAD_DIM 128

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__global__ void attention_decode_scores(const half* Q, const half* K, float* scores, float scale, int length) {
  const int key = blockIdx.x * KEYS + threadIdx.x;
  if (key >= length) return;
  const long long head = blockIdx.y;
  const half* query = Q + head * HEAD_DIM;
  const half* row = K + (head * length + key) * HEAD_DIM;
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int d = 0; d < HEAD_DIM; ++d) {
    sum += __half2float(query[d]) * __half2float(row[d]);
  }
  scores[head * length + key] = sum * scale;
}

__global__ void attention_decode_weights(float* scores, int length) {
  __shared__ float partials[THREADS];
  const int thread = threadIdx.x;
  float* row = scores + (long long)blockIdx.x * length;
  float largest = row[0];
#pragma unroll kUnroll
  for (int key = thread; key < length; key += THREADS) {
    largest = fmaxf(largest, row[key]);
  }
  partials[thread] = largest;
  __syncthreads();
  for (int distance = 1; distance < THREADS; distance *= 2) {
    if (thread % (2 * distance) == 0) partials[thread] = fmaxf(partials[thread], partials[thread + distance]);
    __syncthreads();
  }
  largest = partials[0];
  __syncthreads();   // all threads have read the largest score before the sums replace it, and before weights replace the scores
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int key = thread; key < length; key += THREADS) {
    sum += expf(row[key] - largest);
  }
  partials[thread] = sum;
  __syncthreads();
  for (int distance = 1; distance < THREADS; distance *= 2) {
    if (thread % (2 * distance) == 0) partials[thread] += partials[thread + distance];
    __syncthreads();
  }
  sum = partials[0];
#pragma unroll kUnroll
  for (int key = thread; key < length; key += THREADS) {
    row[key] = expf(row[key] - largest) / sum;
  }
}

__global__ void attention_decode_values(const float* weights, const half* V, half* O, int length) {
  const long long head = blockIdx.x;
  const int column = threadIdx.x;
  const half* value = V + head * length * HEAD_DIM + column;
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int key = 0; key < length; ++key) {
    sum += weights[head * length + key] * __half2float(value[(long long)key * HEAD_DIM]);
  }
  O[head * HEAD_DIM + column] = __float2half(sum);
}
