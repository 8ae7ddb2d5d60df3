// Tensor cores by fragments, whole tiles of 16 only.
// buffers: a f16 in [m, k], b f16 in [k, n], c f32 out [m, n]
// sizes: m=32 n=48 k=16; m=64 n=32 k=80

#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// evo:launch fragments(a, b, c, m, n, k) grid(ceil_div(n, 32), ceil_div(m, 32)) block(64, 2)
__global__ void fragments(const half* a, const half* b, float* c, int M, int N, int K) {
  const int row = (blockIdx.y * 2 + threadIdx.y) * 16, column = (blockIdx.x * 2 + threadIdx.x / 32) * 16;
  if (row >= M || column >= N) return;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> of_a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> of_b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
  wmma::fill_fragment(sums, 0.0f);
  for (int k = 0; k < K; k += 16) {
    wmma::load_matrix_sync(of_a, a + row * K + k, K);
    wmma::load_matrix_sync(of_b, b + k * N + column, N);
    wmma::mma_sync(sums, of_a, of_b, sums);
  }
  wmma::store_matrix_sync(c + row * N + column, sums, N, wmma::mem_row_major);
}
