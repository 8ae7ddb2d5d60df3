#include "mutators/parallelism/convolutions/convolution_text.h"

namespace evo {

const std::string_view kDepthwiseConvolution = R"(
  // A block computes TILE_M_ rows and TILE_N_ columns of one channel of an image. What they need of the channel is in shared
  // memory, with zeros around it, and so is the filter. A thread has THREAD_M_ rows of a column.
  constexpr int kThreads = TILE_M_ / THREAD_M_ * TILE_N_;
  const int filters = FILTERS_, pixels = OUT_EXTENT_, taps = ALL_TAPS_;
  const int tile_rows = (TILE_M_ - 1) * STRIDE_Y_ + (ROWS_ - 1) * DOWN_ + 1;
  const int tile_columns = (TILE_N_ - 1) * STRIDE_X_ + (COLUMNS_ - 1) * ALONG_ + 1;
  const int tile_pixels = TILE_PIXELS_;
  extern __shared__ __align__(16) unsigned char tiles[];
  float* tile = reinterpret_cast<float*>(tiles);
  float* weights = tile + tile_pixels;
  const int blocks_m = (OUT_HEIGHT_ + TILE_M_ - 1) / TILE_M_, blocks_n = (OUT_WIDTH_ + TILE_N_ - 1) / TILE_N_;
  const int first_m = blockIdx.x / blocks_n % blocks_m * TILE_M_, first_n = blockIdx.x % blocks_n * TILE_N_;
  VOLUME_ const int own_z = blockIdx.x / blocks_n / blocks_m % OUT_DEPTH_;
  const int plane = PLANE_OF_BLOCK_, filter = plane % filters;
  const long long image = plane / filters;
  for (int t = threadIdx.x; t < taps; t += kThreads) weights[SLOT_OF_TAP_] = static_cast<float>(F_[TAP_INDEX_]);
  const int top = first_m * STRIDE_Y_ - PAD_Y_, left = first_n * STRIDE_X_ - PAD_X_;
  for (int t = threadIdx.x; t < tile_pixels; t += kThreads) {
    VOLUME_ const int at_z = own_z * STRIDE_Z_ - PAD_Z_ + t / (tile_rows * tile_columns) * INWARD_;
    const int at_y = top + ROW_OF_TILE_, at_x = left + t % tile_columns;
    const bool within = AT_WITHIN_;
    tile[t] = within ? static_cast<float>(X_[(long long)plane * EXTENT_ + (FROM_FIRST_)]) : 0.0f;
  }
  __syncthreads();
  const int own_m = threadIdx.x / TILE_N_ * THREAD_M_, own_n = threadIdx.x % TILE_N_;
  float sums[THREAD_M_] = {};
  VOLUME_ for (int h = 0; h < PLANES_; ++h)
#pragma unroll
  for (int i = 0; i < ROWS_; ++i) {
#pragma unroll
    for (int j = 0; j < COLUMNS_; ++j) {
      const float weight = weights[TAP_OF_FILTER_];
#pragma unroll
      for (int r = 0; r < THREAD_M_; ++r) {
        const int line = OF_PLANE_ + (own_m + r) * STRIDE_Y_ + i * DOWN_;
        sums[r] += tile[line * tile_columns + own_n * STRIDE_X_ + j * ALONG_] * weight;
      }
    }
  }
#pragma unroll
  for (int r = 0; r < THREAD_M_; ++r) {
        const int row = first_m + own_m + r, pixel = PIXEL_OF_ROW_ * OUT_WIDTH_ + first_n + own_n;
        if (row >= OUT_HEIGHT_ || first_n + own_n >= OUT_WIDTH_) continue;
EPILOGUE_  }
)";

}  // namespace evo
