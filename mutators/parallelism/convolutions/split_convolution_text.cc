#include "mutators/parallelism/convolutions/convolution_text.h"

namespace evo {

const std::string_view kSplitBegin = R"(
  // The product of the filters and a matrix whose columns are the surroundings of pixels, on tensor cores. A warp computes kWarpM
  // filters at kWarpN pixels. STAGES_ tiles of both are in shared memory or on their way there, with space between so that what
  // is read together lies in different banks.
  constexpr int kWarps = WARPS_M_ * WARPS_N_, kThreads = kWarps * 32;
  constexpr int kWarpM = TILE_M_ / WARPS_M_, kWarpN = TILE_N_ / WARPS_N_;
  constexpr int kColumns = TILE_N_ / 32, kRows = TILE_K_ / kWarps;
  extern __shared__ __align__(16) unsigned char tiles[];
  float (*tile_f)[TILE_M_][TILE_K_ + 4] = reinterpret_cast<float (*)[TILE_M_][TILE_K_ + 4]>(tiles);
  float (*tile_x)[TILE_K_][TILE_N_ + 8] = reinterpret_cast<float (*)[TILE_K_][TILE_N_ + 8]>(tile_f + STAGES_);
)";

const std::string_view kSplitPlacesByMask = R"(
  // A lane brings every 32nd pixel of a line. Of each: where its first tap is, in bytes, and a bit for each tap within the image.
  unsigned place[kColumns], inside[kColumns] = {};
#pragma unroll
  for (int p = 0; p < kColumns; ++p) {
    const int n = p * 32 + lane, pixel = (start + n) % pixels;
    const int FIRSTS_;
    place[p] = 4u * ((start + n) / pixels) * ALL_CHANNELS_ * plane + 4u * (FROM_FIRST_) * PIXEL_;
#pragma unroll
    for (int t = 0; t < taps; ++t) {
      const int TAPS_OF_T_;
      if (n < count && TAP_WITHIN_) inside[p] |= 1u << t;
    }
  }
)";

const std::string_view kSplitPlacesByCompare = R"(
  // A lane brings every 32nd pixel of a line. Of each: where its first tap is, in bytes, and its row and column. A pixel past the
  // end is far below the image.
  unsigned place[kColumns];
  int top[kColumns], left[kColumns];
  VOLUME_ int front[kColumns];
#pragma unroll
  for (int p = 0; p < kColumns; ++p) {
    const int n = p * 32 + lane, pixel = (start + n) % pixels;
    const int FIRSTS_;
    left[p] = at_x;
    top[p] = n < count ? at_y : 1 << 29;
    VOLUME_ front[p] = at_z;
    place[p] = 4u * ((start + n) / pixels) * ALL_CHANNELS_ * plane + 4u * (FROM_FIRST_) * PIXEL_;
  }
)";

const std::string_view kSplitPlacesInRow = R"(
  // A lane brings every 32nd place of a line. Of each: where its first tap is, in bytes, and its column. A place past the end is
  // far beyond the row.
  unsigned place[kColumns];
  int left[kColumns];
#pragma unroll
  for (int p = 0; p < kColumns; ++p) {
    const int n = p * 32 + lane, at_x = (start + n) % pixels * STRIDE_X_ - PAD_X_;
    left[p] = n < count ? at_x : 1 << 29;
    place[p] = 4u * ((start + n) / pixels) * ALL_CHANNELS_ * plane + 4u * at_x * PIXEL_;
  }
)";

const std::string_view kSplitLinesByCompare = R"(
  // Of a line of a tile of surroundings: how far its tap is from a pixel's first, in bytes, in rows and in columns; past the end
  // far below the image. A lane says so of one line.
  __shared__ uint4 lines[TILE_K_];
  const auto describe = [&](int tile) {
    const int k = tile * TILE_K_ + warp + lane * kWarps, channel = CHANNEL_OF_K_, tap = TAP_OF_K_;
    const unsigned down = DISTANCE_Y_, along = DISTANCE_X_;
    VOLUME_ const unsigned inward = DISTANCE_Z_;
    const unsigned away = 4u * channel * PLANE_ + 4u * (AWAY_OF_TAP_) * PIXEL_;
    if (lane < kRows) lines[warp + lane * kWarps] = {away, k < products ? down : 1 << 28, along, INWARD_OF_LINE_};
  };
)";

const std::string_view kSplitLinesInRow = R"(
  // Of a line of a tile of surroundings: how far its tap is from a place's first, in bytes and in columns; past the end far
  // beyond the row. A lane says so of one line.
  __shared__ uint2 lines[TILE_K_];
  const auto describe = [&](int tile) {
    const int k = tile * TILE_K_ + warp + lane * kWarps, channel = CHANNEL_OF_K_, tap = TAP_OF_K_;
    const unsigned along = tap * ALONG_, away = 4u * channel * PLANE_ + 4u * along * PIXEL_;
    if (lane < kRows) lines[warp + lane * kWarps] = {away, k < products ? along : 1 << 28};
  };
)";

const std::string_view kSplitLoop = R"(
  describe(0);
  float sums[kWarpM / 16][kWarpN / 8][4] = {};
  const int steps = (products + TILE_K_ - 1) / TILE_K_;
  for (int step = 1 - STAGES_; step < steps; ++step) {
    __pipeline_wait_prior(STAGES_ - 2);
    __syncthreads();
    const int next = step + STAGES_ - 1;
    if (next < steps) {
)";

const std::string_view kSplitLoadFilters = R"(
#pragma unroll
      for (int round = 0; round < TILE_M_ * TILE_K_ / 4 / kThreads; ++round) {
        const int t = round * kThreads + threadIdx.x, row = t / (TILE_K_ / 4), k = t % (TILE_K_ / 4) * 4;
        const int filter = first_m + row, source = next * TILE_K_ + k;
        CopyVector(&tile_f[next % STAGES_][row][k], F_ + ((long long)filter * products + source),
                   filter < END_M_ ? max(products - source, 0) : 0);
      }
)";

const std::string_view kSplitLoadInnerFilters = R"(
#pragma unroll 4
      for (int t = threadIdx.x; t < TILE_M_ * TILE_K_; t += kThreads) {
        const int row = ROW_OF_T_, k = LINE_OF_T_, filter = first_m + row, source = next * TILE_K_ + k;
        const bool within = filter < END_M_ && source < products;
        __pipeline_memcpy_async(&tile_f[next % STAGES_][row][k], F_ + (SOURCE_INDEX_), 4, within ? 0 : 4);
      }
)";

const std::string_view kSplitLoad = R"(
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const LINE_ line = lines[r * kWarps + warp];
#pragma unroll
        for (int p = 0; p < kColumns; ++p) {WITHIN_DECLARED_
          __pipeline_memcpy_async(&tile_x[next % STAGES_][r * kWarps + warp][p * 32 + lane], from_x + (place[p] + line.x), 4,
                                  WITHIN_ ? 0 : 4);
        }
      }
)";

const std::string_view kSplitWithinByMask = "inside[p] & line.y";
const std::string_view kSplitWithinByCompare = "WITHIN_BY_LINE_";
const std::string_view kSplitWithinInRow = "left[p] + line.y < unsigned(WIDTH_)";

const std::string_view kSplitStep = R"(
      __syncwarp();
      describe(next + 1);
    }
    __pipeline_commit();
    if (step < 0) continue;
    const int slot = step % STAGES_;
PRODUCTS_  }
  __syncthreads();
)";

const std::string_view kSplitTotal = R"(
        float total = own[row * kRow + p * 32 + lane] * 0x1p-48f;
        // Few products, and what is not finite or became too large by 2^48, are summed up in plain float.
        if (products < 32 || !(fabsf(total) < 1e23f)) {
          total = 0.0f;
#pragma unroll 1
          for (int k = 0; k < products; ++k) {
            const int channel = CHANNEL_OF_K_, tap = TAP_OF_K_;
            VOLUME_ const int at_z = AT_Z_;
            const int at_y = AT_Y_;
            const int at_x = AT_X_;
            const bool within = AT_WITHIN_;
            if (!within) continue;
            const long long of_image = image * ALL_CHANNELS_ * plane + GROUP_BEGIN_;
            const long long from = of_image + (long long)channel * PLANE_ + (FROM_FIRST_) * PIXEL_;
            total += X_[from] * F_[FILTER_INDEX_];
          }
        }
)";

}  // namespace evo
