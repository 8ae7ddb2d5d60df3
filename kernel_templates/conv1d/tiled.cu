// Convolution along sequences: a block brings a piece of one channel and that channel's weights of FILTERS filters into shared
// memory. A thread computes PLACES places of all these filters.
// evo:size TAPS = R
// evo:param BLOCK 32 64 128 256
// evo:param PLACES 1 2 4
// evo:param FILTERS 2 4 8 16
// evo:param CHANNELS 1 2 4
// evo:constraint PLACES * FILTERS <= 64 && BLOCK * PLACES >= 64
// evo:launch conv1d_tiled(X, F, Y, C, K, L) \
//   grid(N * ceil_div(K, FILTERS), ceil_div(L, BLOCK * PLACES)) block(BLOCK) \
//   shared(CHANNELS * (BLOCK * PLACES + TAPS - 1 + FILTERS * TAPS) * 4)

// The length of a filter.
#ifndef TAPS
#define TAPS 3
#endif

// Threads of a block.
#ifndef BLOCK
#define BLOCK 128
#endif

// Places of a thread, BLOCK apart.
#ifndef PLACES
#define PLACES 2
#endif

// Filters of a thread.
#ifndef FILTERS
#define FILTERS 4
#endif

// Channels that are in shared memory at a time.
#ifndef CHANNELS
#define CHANNELS 2
#endif

constexpr int kSpan = BLOCK * PLACES + TAPS - 1;

__global__ void __launch_bounds__(BLOCK) conv1d_tiled(const float* __restrict__ X, const float* __restrict__ F,
                                                      float* __restrict__ Y, int channels, int filters, int length) {
  extern __shared__ float shared[];
  float* tile = shared;                        // [CHANNELS][kSpan]
  float* weights = shared + CHANNELS * kSpan;  // [CHANNELS][FILTERS][TAPS]
  const int groups = (filters + FILTERS - 1) / FILTERS;
  const long long sequence = blockIdx.x / groups;
  const int first_filter = blockIdx.x % groups * FILTERS;
  const int first_place = blockIdx.y * BLOCK * PLACES;
  float sums[FILTERS][PLACES] = {};
  for (int first = 0; first < channels; first += CHANNELS) {
    for (int i = threadIdx.x; i < CHANNELS * kSpan; i += BLOCK) {
      const int c = first + i / kSpan;
      const int from = first_place + i % kSpan - TAPS / 2;
      tile[i] = c < channels && from >= 0 && from < length ? X[(sequence * channels + c) * length + from] : 0.0f;
    }
    for (int i = threadIdx.x; i < CHANNELS * FILTERS * TAPS; i += BLOCK) {
      const int c = first + i / TAPS / FILTERS;
      const int k = first_filter + i / TAPS % FILTERS;
      weights[i] = c < channels && k < filters ? F[((long long)k * channels + c) * TAPS + i % TAPS] : 0.0f;
    }
    __syncthreads();
    for (int c = 0; c < CHANNELS; ++c) {
#pragma unroll 4
      for (int r = 0; r < TAPS; ++r) {
        float values[PLACES];
#pragma unroll
        for (int p = 0; p < PLACES; ++p) values[p] = tile[c * kSpan + threadIdx.x + p * BLOCK + r];
#pragma unroll
        for (int k = 0; k < FILTERS; ++k) {
          const float weight = weights[(c * FILTERS + k) * TAPS + r];
#pragma unroll
          for (int p = 0; p < PLACES; ++p) sums[k][p] += values[p] * weight;
        }
      }
    }
    __syncthreads();   // all threads are done with the channels before the next ones replace them
  }
#pragma unroll
  for (int k = 0; k < FILTERS; ++k) {
#pragma unroll
    for (int p = 0; p < PLACES; ++p) {
      const int place = first_place + threadIdx.x + p * BLOCK;
      if (first_filter + k < filters && place < length) Y[(sequence * filters + first_filter + k) * length + place] = sums[k][p];
    }
  }
}
