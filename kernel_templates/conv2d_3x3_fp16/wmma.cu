// 3x3 convolution of fp16 on tensor cores, as the product of the filters (K rows of 9 C values) and a matrix whose columns are the
// surroundings of the pixels, which is made in shared memory piece by piece. A warp computes 16 filters at PIXELS_OF_WARP pixels.
// evo:param WARPS_K 1 2 4
// evo:param WARPS_P 1 2 4
// evo:param PIXELS_OF_WARP 16 32 64
// evo:param DEPTH 16 32 64
// evo:constraint WARPS_K * 32 % PIXELS_OF_WARP == 0
// evo:constraint (WARPS_K * 16 * (DEPTH + 8) + DEPTH * (WARPS_P * PIXELS_OF_WARP + 8)) * 2 <= 24576
// evo:constraint WARPS_K * 16 * (WARPS_P * PIXELS_OF_WARP + 4) * 4 <= 24576
// evo:launch conv2d_3x3_fp16_wmma(X, F, Y, C, K, H, W) \
//   grid(N * ceil_div(K, WARPS_K * 16), ceil_div(H * W, WARPS_P * PIXELS_OF_WARP)) block(WARPS_K * WARPS_P * 32)
// evo:requires sm_70
#include <cuda_fp16.h>
#include <mma.h>

// Warps of a block that share pixels, and those that share filters.
#ifndef WARPS_K
#define WARPS_K 2
#endif

#ifndef WARPS_P
#define WARPS_P 2
#endif

// Pixels of a warp.
#ifndef PIXELS_OF_WARP
#define PIXELS_OF_WARP 32
#endif

// Products of a step.
#ifndef DEPTH
#define DEPTH 32
#endif

constexpr int kThreads = WARPS_K * WARPS_P * 32;
constexpr int kFilters = WARPS_K * 16;
constexpr int kPixels = WARPS_P * PIXELS_OF_WARP;
constexpr int kParts = PIXELS_OF_WARP / 16;
// Rows are further apart than their lengths, against bank conflicts.
constexpr int kStrideF = DEPTH + 8;
constexpr int kStrideX = kPixels + 8;
constexpr int kStrideY = kPixels + 4;

__global__ void __launch_bounds__(kThreads) conv2d_3x3_fp16_wmma(const half* __restrict__ X, const half* __restrict__ F,
                                                                 half* __restrict__ Y, int channels, int filters, int height,
                                                                 int width) {
  using namespace nvcuda;
  __shared__ alignas(32) half tile_f[kFilters * kStrideF];
  __shared__ alignas(32) half tile_x[DEPTH * kStrideX];
  __shared__ alignas(32) float results[kFilters * kStrideY];
  const int groups = (filters + kFilters - 1) / kFilters;
  const long long image = blockIdx.x / groups;
  const int first_filter = blockIdx.x % groups * kFilters;
  const int first_pixel = blockIdx.y * kPixels;
  const long long plane = (long long)height * width;
  const int products = channels * 9;
  const int warp_k = threadIdx.x / 32 / WARPS_P;
  const int warp_p = threadIdx.x / 32 % WARPS_P;
  // A thread brings values of one pixel's surroundings.
  const int pixel = threadIdx.x % kPixels;
  const int row = (first_pixel + pixel) / width;
  const int column = (first_pixel + pixel) % width;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[kParts];
  for (int p = 0; p < kParts; ++p) wmma::fill_fragment(sums[p], 0.0f);
  for (int first = 0; first < products; first += DEPTH) {
    for (int i = threadIdx.x; i < kFilters * DEPTH; i += kThreads) {
      const int k = first_filter + i / DEPTH;
      const int from = first + i % DEPTH;
      tile_f[i / DEPTH * kStrideF + i % DEPTH] = k < filters && from < products ? F[(long long)k * products + from] : half(0.0f);
    }
    for (int i = threadIdx.x / kPixels; i < DEPTH; i += kThreads / kPixels) {
      const int channel = (first + i) / 9;
      const int y = row + (first + i) % 9 / 3 - 1;
      const int x = column + (first + i) % 3 - 1;
      const bool inside = channel < channels && y >= 0 && y < height && x >= 0 && x < width;
      tile_x[i * kStrideX + pixel] = inside ? X[(image * channels + channel) * plane + (long long)y * width + x] : half(0.0f);
    }
    __syncthreads();
    for (int d = 0; d < DEPTH; d += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> f;
      wmma::load_matrix_sync(f, tile_f + warp_k * 16 * kStrideF + d, kStrideF);
      for (int p = 0; p < kParts; ++p) {
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> x;
        wmma::load_matrix_sync(x, tile_x + d * kStrideX + warp_p * PIXELS_OF_WARP + p * 16, kStrideX);
        wmma::mma_sync(sums[p], f, x, sums[p]);
      }
    }
    __syncthreads();   // all warps are done with the tiles before the next ones replace them
  }
  for (int p = 0; p < kParts; ++p) {
    float* to = results + warp_k * 16 * kStrideY + warp_p * PIXELS_OF_WARP + p * 16;
    wmma::store_matrix_sync(to, sums[p], kStrideY, wmma::mem_row_major);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kFilters * kPixels; i += kThreads) {
    const int k = first_filter + i / kPixels;
    const int to = first_pixel + i % kPixels;
    if (k < filters && to < plane) Y[(image * filters + k) * plane + to] = __float2half(results[i / kPixels * kStrideY + i % kPixels]);
  }
}
