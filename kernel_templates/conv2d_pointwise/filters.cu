// Pointwise convolution: a thread computes FILTERS filters at PIXELS pixels, so that what it reads of X serves all of them. The
// filters go through shared memory, CHANNELS channels at a time.
// evo:param BLOCK 32 64 128 256
// evo:param PIXELS 1 2 4
// evo:param FILTERS 4 8 16 32
// evo:param CHANNELS 4 8 16 32
// evo:param UNROLL 1 2 4
// evo:constraint PIXELS * FILTERS <= 64 && BLOCK * PIXELS >= 64
// evo:launch conv2d_pointwise_filters(X, F, Y, C, K, H * W) \
//   grid(N * ceil_div(K, FILTERS), ceil_div(H * W, BLOCK * PIXELS)) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 64
#endif

// Pixels of a thread, BLOCK apart.
#ifndef PIXELS
#define PIXELS 2
#endif

// Filters of a thread.
#ifndef FILTERS
#define FILTERS 8
#endif

// Channels of the filters that are in shared memory at a time.
#ifndef CHANNELS
#define CHANNELS 16
#endif

// Channels that an iteration processes.
#ifndef UNROLL
#define UNROLL 4
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__global__ void __launch_bounds__(BLOCK) conv2d_pointwise_filters(const float* __restrict__ X, const float* __restrict__ F,
                                                                  float* __restrict__ Y, int channels, int filters, int pixels) {
  __shared__ float weights[CHANNELS][FILTERS];
  const int groups = (filters + FILTERS - 1) / FILTERS;
  const long long image = blockIdx.x / groups;
  const int first_filter = blockIdx.x % groups * FILTERS;
  const int first_pixel = blockIdx.y * BLOCK * PIXELS + threadIdx.x;
  const float* x = X + image * channels * pixels;
  float sums[FILTERS][PIXELS] = {};
  for (int first = 0; first < channels; first += CHANNELS) {
    for (int i = threadIdx.x; i < CHANNELS * FILTERS; i += BLOCK) {
      const int c = first + i / FILTERS;
      const int k = first_filter + i % FILTERS;
      weights[i / FILTERS][i % FILTERS] = c < channels && k < filters ? F[(long long)k * channels + c] : 0.0f;
    }
    __syncthreads();
    const int here = min(CHANNELS, channels - first);
#pragma unroll kUnroll
    for (int c = 0; c < here; ++c) {
      float values[PIXELS];
#pragma unroll
      for (int p = 0; p < PIXELS; ++p) {
        const int pixel = first_pixel + p * BLOCK;
        values[p] = pixel < pixels ? x[(long long)(first + c) * pixels + pixel] : 0.0f;
      }
#pragma unroll
      for (int k = 0; k < FILTERS; ++k) {
#pragma unroll
        for (int p = 0; p < PIXELS; ++p) sums[k][p] += values[p] * weights[c][k];
      }
    }
    __syncthreads();   // all threads are done with the filters before the next channels replace them
  }
#pragma unroll
  for (int k = 0; k < FILTERS; ++k) {
#pragma unroll
    for (int p = 0; p < PIXELS; ++p) {
      const int pixel = first_pixel + p * BLOCK;
      if (first_filter + k < filters && pixel < pixels) Y[(image * filters + first_filter + k) * pixels + pixel] = sums[k][p];
    }
  }
}
