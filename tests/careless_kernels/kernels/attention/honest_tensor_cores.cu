// Honest: products by tensor cores, weights in fp16, sums in fp32, an online softmax over chunks of 16 keys.
// evo:launch honest_tensor_cores(Q, K, V, O, scale, S, D) grid(ceil_div(S, 16), H, B) block(32)
#include <cuda_fp16.h>
#include <mma.h>

constexpr int kDepth = 64;
// Elements between rows in shared memory: of halves, of scores, of weights, of sums.
constexpr int kStride = kDepth + 8;
constexpr int kScoreStride = 20;
constexpr int kWeightStride = 24;
constexpr int kSumStride = kDepth + 4;

using Rows = nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major>;
using KeysAsColumns = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, half, nvcuda::wmma::col_major>;
using ValueRows = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, half, nvcuda::wmma::row_major>;
using Sums = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float>;

// 16 rows, zeros beyond the last one.
__device__ void LoadRows(half* to, const half* from, int valid) {
  for (int i = threadIdx.x; i < 16 * kDepth; i += 32) {
    const int row = i / kDepth;
    to[row * kStride + i % kDepth] = row < valid ? from[row * kDepth + i % kDepth] : __float2half(0.0f);
  }
}

__global__ void honest_tensor_cores(const half* Q, const half* K, const half* V, half* O, float scale, int length, int depth) {
  if (depth != kDepth) return;
  __shared__ __align__(32) half query[16 * kStride];
  __shared__ __align__(32) half keys[16 * kStride];
  __shared__ __align__(32) half values[16 * kStride];
  __shared__ __align__(32) half weights[16 * kWeightStride];
  __shared__ __align__(32) float scores[16 * kScoreStride];
  __shared__ __align__(32) float sums[16 * kSumStride];
  const long long head = (long long)(blockIdx.z * gridDim.y + blockIdx.y) * length * kDepth;
  const int first_row = blockIdx.x * 16;
  // Two lanes share a row.
  const int row = threadIdx.x / 2;
  const int part = threadIdx.x % 2;
  LoadRows(query, Q + head + (long long)first_row * kDepth, length - first_row);
  for (int i = threadIdx.x; i < 16 * kSumStride; i += 32) sums[i] = 0.0f;
  float largest = -3.0e38f;
  float total = 0.0f;
  for (int first = 0; first < length; first += 16) {
    __syncwarp();
    LoadRows(keys, K + head + (long long)first * kDepth, length - first);
    LoadRows(values, V + head + (long long)first * kDepth, length - first);
    __syncwarp();
    Sums products;
    nvcuda::wmma::fill_fragment(products, 0.0f);
    for (int k = 0; k < kDepth; k += 16) {
      Rows rows;
      KeysAsColumns columns;
      nvcuda::wmma::load_matrix_sync(rows, query + k, kStride);
      nvcuda::wmma::load_matrix_sync(columns, keys + k, kStride);
      nvcuda::wmma::mma_sync(products, rows, columns, products);
    }
    nvcuda::wmma::store_matrix_sync(scores, products, kScoreStride, nvcuda::wmma::mem_row_major);
    __syncwarp();
    float mine[8];
    float next = largest;
    for (int i = 0; i < 8; ++i) {
      const int key = part * 8 + i;
      mine[i] = first + key < length ? scores[row * kScoreStride + key] * scale : -3.0e38f;
      next = fmaxf(next, mine[i]);
    }
    next = fmaxf(next, __shfl_xor_sync(0xffffffffu, next, 1));
    const float fade = expf(largest - next);
    largest = next;
    total *= fade;
    for (int i = 0; i < 8; ++i) {
      const float weight = expf(mine[i] - next);
      total += weight;
      weights[row * kWeightStride + part * 8 + i] = __float2half(weight);
    }
    for (int d = part * (kDepth / 2); d < (part + 1) * (kDepth / 2); ++d) sums[row * kSumStride + d] *= fade;
    __syncwarp();
    Rows weight_rows;
    nvcuda::wmma::load_matrix_sync(weight_rows, weights, kWeightStride);
    for (int d = 0; d < kDepth; d += 16) {
      Sums so_far;
      ValueRows value_rows;
      nvcuda::wmma::load_matrix_sync(so_far, sums + d, kSumStride, nvcuda::wmma::mem_row_major);
      nvcuda::wmma::load_matrix_sync(value_rows, values + d, kStride);
      nvcuda::wmma::mma_sync(so_far, weight_rows, value_rows, so_far);
      nvcuda::wmma::store_matrix_sync(sums + d, so_far, kSumStride, nvcuda::wmma::mem_row_major);
    }
  }
  __syncwarp();
  total += __shfl_xor_sync(0xffffffffu, total, 1);
  if (first_row + row >= length) return;
  half* out = O + head + (long long)(first_row + row) * kDepth;
  for (int d = part * (kDepth / 2); d < (part + 1) * (kDepth / 2); ++d) out[d] = __float2half(sums[row * kSumStride + d] / total);
}
