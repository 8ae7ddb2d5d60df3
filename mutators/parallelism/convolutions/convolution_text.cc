#include "mutators/parallelism/convolutions/convolution_text.h"

namespace evo {

const std::string_view kConvolutionBegin = R"(
  // The product of the filters and a matrix whose columns are the surroundings of pixels, on tensor cores. A warp computes kWarpM
  // filters at kWarpN pixels. While a tile is multiplied, the next comes: filters by asynchronous copies, surroundings through
  // registers. Eight more elements in a row keep the rows that are read together in different banks.
  constexpr int kWarps = WARPS_M_ * WARPS_N_, kThreads = kWarps * 32;
  constexpr int kWarpM = TILE_M_ / WARPS_M_, kWarpN = TILE_N_ / WARPS_N_;
  constexpr int kPairs = TILE_N_ / 64, kRows = TILE_K_ / kWarps;
  extern __shared__ __align__(16) unsigned char tiles[];
  ELEMENT_ (*tile_f)[TILE_M_][TILE_K_ + 8] = reinterpret_cast<ELEMENT_ (*)[TILE_M_][TILE_K_ + 8]>(tiles);
  ELEMENT_ (*tile_x)[TILE_K_][TILE_N_ + 8] = reinterpret_cast<ELEMENT_ (*)[TILE_K_][TILE_N_ + 8]>(tile_f + 2);
)";

// Where the warp and the block are.
const std::string_view kConvolutionPlace = R"(
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int own_m = warp / WARPS_N_ * kWarpM, own_n = warp % WARPS_N_ * kWarpN;
  const int filters = FILTERS_, pixels = OUT_EXTENT_, plane = EXTENT_;
  TAPS_DECLARED_
  FIRST_FILTER_DECLARED_
  // Of the block's pixels, which may be of several images: how many there are, and where the first is.
  const long long first = blockIdx.x / blocks_m * (long long)TILE_N_, first_image = first / pixels;
  const int start = static_cast<int>(first - first_image * pixels);
  const int count = static_cast<int>(min((long long)IMAGES_ * pixels - first, (long long)TILE_N_));
  // Distances within these images are bytes in 32 bits.
  if (((start + count - 1) / pixels + 1ll) * ALL_CHANNELS_ * EXTENT_ * sizeof(ELEMENT_) >> 32) __trap();
  const char* from_x = reinterpret_cast<const char*>(X_ + first_image * ALL_CHANNELS_ * plane + GROUP_BEGIN_);
)";

const std::string_view kFirstFilter = R"(
const int blocks_m = (filters + TILE_M_ - 1) / TILE_M_, first_m = blockIdx.x % blocks_m * TILE_M_;)";

const std::string_view kFirstFilterOfGroup = R"(
// The filters of a block are of one group, which reads channels of its own.
  if (filters % GROUPS_ != 0) __trap();
  const int of_group = filters / GROUPS_, group_blocks = (of_group + TILE_M_ - 1) / TILE_M_, blocks_m = GROUPS_ * group_blocks;
  const int group = blockIdx.x % blocks_m / group_blocks, end_m = (group + 1) * of_group;
  const int first_m = group * of_group + blockIdx.x % group_blocks * TILE_M_;)";

// Of a pixel, where its first tap is in a channel, and which of its taps are within the image.
const std::string_view kPlacesByMask = R"(
  // A thread brings pairs of neighbouring pixels. Of each: where its first tap is, in bytes, and a bit for each tap within the
  // image.
  unsigned place[kPairs][2], inside[kPairs][2] = {};
#pragma unroll
  for (int p = 0; p < kPairs; ++p) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int n = p * 64 + lane * 2 + e, pixel = (start + n) % pixels;
      const int FIRSTS_;
      place[p][e] = 2u * ((start + n) / pixels) * ALL_CHANNELS_ * plane + 2u * (FROM_FIRST_) * PIXEL_;
#pragma unroll
      for (int t = 0; t < taps; ++t) {
        const int TAPS_OF_T_;
        if (n < count && TAP_WITHIN_) inside[p][e] |= 1u << t;
      }
    }
  }
)";

const std::string_view kPlacesByCompare = R"(
  // A thread brings pairs of neighbouring pixels. Of each: where its image is, in bytes, and its first tap there. That of a pixel
  // past the end is far below the image.
  unsigned place[kPairs][2];
  int top[kPairs][2], left[kPairs][2];
  VOLUME_ int front[kPairs][2];
#pragma unroll
  for (int p = 0; p < kPairs; ++p) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int n = p * 64 + lane * 2 + e, pixel = (start + n) % pixels;
      place[p][e] = 2u * ((start + n) / pixels) * ALL_CHANNELS_ * plane;
      top[p][e] = n < count ? FIRST_Y_ : 1 << 29;
      left[p][e] = FIRST_X_;
      VOLUME_ front[p][e] = FIRST_Z_;
    }
  }
)";

// What a line of a tile is: where its channel begins, and which tap it has.
const std::string_view kLinesByMask = R"(
  // Of a line of a tile of surroundings: how far its tap is from a pixel's first, in bytes, and the tap's bit; no bit past the
  // end. A lane says so of one line.
  __shared__ uint2 lines[TILE_K_];
  const auto describe = [&](int tile) {
    const int k = tile * TILE_K_ + warp + lane * kWarps, channel = CHANNEL_OF_K_, tap = TAP_OF_K_;
    const unsigned away = SIZE_ * channel * PLANE_ + SIZE_ * (AWAY_OF_TAP_) * PIXEL_;
    if (lane < kRows) lines[warp + lane * kWarps] = {away, k < products ? 1u << tap : 0};
  };
)";

const std::string_view kLinesByCompare = R"(
  // Of a line of a tile of surroundings: how far its channel is from the first, in bytes, and the row and the column of its tap;
  // past the end far below the image. A lane says so of one line.
  __shared__ uint4 lines[TILE_K_];
  const auto describe = [&](int tile) {
    const int k = tile * TILE_K_ + warp + lane * kWarps, channel = CHANNEL_OF_K_, tap = TAP_OF_K_;
    const unsigned away = 2u * channel * PLANE_, along = DISTANCE_X_;
    const unsigned down = k < products ? DISTANCE_Y_ : 1 << 28;
    VOLUME_ const unsigned inward = DISTANCE_Z_;
    if (lane < kRows) lines[warp + lane * kWarps] = {away, down, along, INWARD_OF_LINE_};
  };
)";

const std::string_view kConvolutionLoop = R"(
  describe(0);
  __syncwarp();
  float sums[kWarpM / 16][kWarpN / 8][4] = {};
  const int steps = (products + TILE_K_ - 1) / TILE_K_;
  for (int step = -1; step < steps; ++step) {
    const int next = step + 1;
    unsigned short values[kRows][kPairs][2];
    if (next < steps) {
)";

const std::string_view kLoadFilters = R"(
#pragma unroll
      for (int round = 0; round < TILE_M_ * TILE_K_ / 8 / kThreads; ++round) {
        const int t = round * kThreads + threadIdx.x, row = t / (TILE_K_ / 8), k = t % (TILE_K_ / 8) * 8;
        const int filter = first_m + row, source = next * TILE_K_ + k;
        CopyVector(&tile_f[next % 2][row][k], F_ + ((long long)filter * products + source),
                   filter < END_M_ ? max(products - source, 0) : 0);
      }
)";

// Where neighbouring elements are those of other filters.
const std::string_view kLoadInnerFilters = R"(
      for (int t = threadIdx.x; t < TILE_M_ * TILE_K_; t += kThreads) {
        const int row = ROW_OF_T_, k = LINE_OF_T_, filter = first_m + row, source = next * TILE_K_ + k;
        ELEMENT_ value = 0.0f;
        if (filter < END_M_ && source < products) value = F_[SOURCE_INDEX_];
        tile_f[next % 2][row][k] = value;
      }
)";

const std::string_view kLoadByMask = R"(
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const uint2 line = lines[r * kWarps + warp];
#pragma unroll
        for (int p = 0; p < kPairs; ++p) {
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            values[r][p][e] = 0;
            const char* from = from_x + (place[p][e] + line.x);
            if (inside[p][e] & line.y) values[r][p][e] = *reinterpret_cast<const unsigned short*>(from);
          }
        }
      }
    }
)";

const std::string_view kLoadByCompare = R"(
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const uint4 line = lines[r * kWarps + warp];
#pragma unroll
        for (int p = 0; p < kPairs; ++p) {
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            const int AT_OF_LINE_;
            const char* from = from_x + (place[p][e] + line.x + 2u * (FROM_FIRST_) * PIXEL_);
            const bool within = AT_WITHIN_;
            values[r][p][e] = 0;
            if (within) values[r][p][e] = *reinterpret_cast<const unsigned short*>(from);
          }
        }
      }
    }
)";

const std::string_view kConvolutionProducts = R"(
    if (step >= 0) {
      const int slot = step % 2;
#pragma unroll
      for (int part_k = 0; part_k < TILE_K_; part_k += 16) {
        unsigned part_m[kWarpM / 16][4], part_n[kWarpN / 16][4];
#pragma unroll
        for (int i = 0; i < kWarpM / 16; ++i) {
          LoadMatrices(part_m[i], &tile_f[slot][own_m + i * 16 + lane % 16][part_k + lane / 16 * 8]);
        }
#pragma unroll
        for (int j = 0; j < kWarpN / 16; ++j) {
          LoadTransposed(part_n[j], &tile_x[slot][part_k + lane % 16][own_n + j * 16 + lane / 16 * 8]);
        }
#pragma unroll
        for (int i = 0; i < kWarpM / 16; ++i) {
#pragma unroll
          for (int j = 0; j < kWarpN / 16; ++j) {
            MultiplyAdd(sums[i][2 * j], part_m[i], part_n[j][0], part_n[j][1]);
            MultiplyAdd(sums[i][2 * j + 1], part_m[i], part_n[j][2], part_n[j][3]);
          }
        }
      }
    }
    if (next < steps) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
#pragma unroll
        for (int p = 0; p < kPairs; ++p) {
          *reinterpret_cast<unsigned*>(&tile_x[next % 2][warp + r * kWarps][p * 64 + lane * 2]) =
              values[r][p][0] | static_cast<unsigned>(values[r][p][1]) << 16;
        }
      }
    }
    __syncwarp();
    describe(next + 1);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
  }
)";

const std::string_view kConvolutionStores = R"(
  // The sums go through shared memory, so that neighbouring threads store neighbouring elements.
  constexpr int kRow = kWarpN + 8;
  float* own = reinterpret_cast<float*>(tiles) + warp * 16 * kRow;
#pragma unroll
  for (int i = 0; i < kWarpM / 16; ++i) {
#pragma unroll
    for (int j = 0; j < kWarpN / 8; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) own[(lane / 4 + e / 2 * 8) * kRow + j * 8 + lane % 4 * 2 + e % 2] = sums[i][j][e];
    }
    __syncwarp();
UNROLLED_P_
    for (int p = 0; p < kWarpN / 32; ++p) {
      const int n = own_n + p * 32 + lane, pixel = (start + n) % pixels;
      const long long image = first_image + (start + n) / pixels;
#pragma unroll 4
      for (int row = 0; row < 16; ++row) {
        const int filter = first_m + own_m + i * 16 + row;
        if (filter >= END_M_ || n >= count) continue;
EPILOGUE_      }
    }
    __syncwarp();
  }
)";

const std::string_view kFloatConvolution = R"(
  // The product of the filters and a matrix whose columns are the surroundings of pixels, by tiles in shared memory. A thread
  // sums up THREAD_M_ filters at THREAD_N_ pixels.
  constexpr int kAlongM = TILE_M_ / THREAD_M_, kAlongN = TILE_N_ / THREAD_N_, kThreads = kAlongM * kAlongN;
  __shared__ float tile_f[TILE_K_][TILE_M_ + 1], tile_x[TILE_K_][TILE_N_];
  const int own_m = threadIdx.x / kAlongN, own_n = threadIdx.x % kAlongN;
  const int filters = FILTERS_, pixels = OUT_EXTENT_, plane = EXTENT_;
  TAPS_DECLARED_
  FIRST_FILTER_DECLARED_
  const long long first = blockIdx.x / blocks_m * (long long)TILE_N_, end = (long long)IMAGES_ * pixels;
  float sums[THREAD_M_][THREAD_N_] = {};
  for (int step = 0; step < products; step += TILE_K_) {
    for (int t = threadIdx.x; t < TILE_M_ * TILE_K_; t += kThreads) {
      const int row = ROW_OF_T_, k = step + LINE_OF_T_, filter = first_m + row;
      tile_f[LINE_OF_T_][row] = filter < END_M_ && k < products ? F_[FILTER_INDEX_] : 0.0f;
    }
    for (int t = threadIdx.x; t < TILE_K_ * TILE_N_; t += kThreads) {
      const int k = step + t / TILE_N_, channel = CHANNEL_OF_K_, tap = TAP_OF_K_;
      const long long n = first + t % TILE_N_, image = n / pixels;
      const int pixel = static_cast<int>(n - image * pixels);
      VOLUME_ const int at_z = AT_Z_;
      const int at_y = AT_Y_;
      const int at_x = AT_X_;
      const bool within = n < end && k < products && AT_WITHIN_;
      const long long of_image = image * ALL_CHANNELS_ * plane + GROUP_BEGIN_;
      const long long place = of_image + (long long)channel * PLANE_ + (FROM_FIRST_) * PIXEL_;
      tile_x[t / TILE_N_][t % TILE_N_] = within ? X_[place] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE_K_; ++k) {
      float part_m[THREAD_M_], part_n[THREAD_N_];
#pragma unroll
      for (int i = 0; i < THREAD_M_; ++i) part_m[i] = tile_f[k][own_m + i * kAlongM];
#pragma unroll
      for (int j = 0; j < THREAD_N_; ++j) part_n[j] = tile_x[k][own_n + j * kAlongN];
#pragma unroll
      for (int i = 0; i < THREAD_M_; ++i) {
#pragma unroll
        for (int j = 0; j < THREAD_N_; ++j) sums[i][j] += part_m[i] * part_n[j];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < THREAD_M_; ++i) {
#pragma unroll
    for (int j = 0; j < THREAD_N_; ++j) {
        const int filter = first_m + own_m + i * kAlongM;
        const long long n = first + own_n + j * kAlongN, image = n / pixels;
        const int pixel = static_cast<int>(n - image * pixels);
        if (filter >= END_M_ || n >= end) continue;
EPILOGUE_    }
  }
)";

}  // namespace evo
