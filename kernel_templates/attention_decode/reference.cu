// Attention of one query for each head as its definition says it, in double precision: one thread a key for the scores, one a
// head for the weights, one a column for the result.
// evo:workspace scores f64 [B, H, S]
// evo:launch attention_decode_reference_scores(Q, K, scores, scale, S, B * H) grid(ceil_div(B * H * S, 64)) block(64)
// evo:launch attention_decode_reference_weights(scores, S, B * H) grid(ceil_div(B * H, 32)) block(32)
// evo:launch attention_decode_reference(scores, V, O, S) grid(B * H) block(128)
#include <cuda_fp16.h>

// Elements of a row.
#define HEAD_DIM 128

__global__ void attention_decode_reference_scores(const half* Q, const half* K, double* scores, float scale, int length,
                                                  int heads) {
  const long long key = (long long)blockIdx.x * blockDim.x + threadIdx.x;   // of all heads
  if (key >= (long long)heads * length) return;
  double sum = 0;
  for (int d = 0; d < HEAD_DIM; ++d) {
    sum += double(__half2float(Q[key / length * HEAD_DIM + d])) * double(__half2float(K[key * HEAD_DIM + d]));
  }
  scores[key] = sum * double(scale);
}

__global__ void attention_decode_reference_weights(double* scores, int length, int heads) {
  const int head = blockIdx.x * blockDim.x + threadIdx.x;
  if (head >= heads) return;
  double* row = scores + (long long)head * length;
  double largest = row[0];
  for (int key = 1; key < length; ++key) largest = fmax(largest, row[key]);
  double sum = 0;
  for (int key = 0; key < length; ++key) sum += exp(row[key] - largest);
  for (int key = 0; key < length; ++key) row[key] = exp(row[key] - largest) / sum;
}

__global__ void attention_decode_reference(const double* weights, const half* V, double* O, int length) {
  const long long head = blockIdx.x;
  double sum = 0;
  for (int key = 0; key < length; ++key) {
    sum += weights[head * length + key] * double(__half2float(V[(head * length + key) * HEAD_DIM + threadIdx.x]));
  }
  O[head * HEAD_DIM + threadIdx.x] = sum;
}
