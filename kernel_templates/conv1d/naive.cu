// Convolution along sequences, one thread an element; neighbouring threads take neighbouring places of a sequence.
// evo:param BLOCK 64 128 256 512
// evo:param UNROLL 1 2 4 8
// evo:launch conv1d_naive(X, F, Y, C, K, L, R) grid(N * K, ceil_div(L, BLOCK)) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 128
#endif

// Channels that an iteration processes.
#ifndef UNROLL
#define UNROLL 1
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__global__ void conv1d_naive(const float* X, const float* F, float* Y, int channels, int filters, int length, int taps) {
  const int sequence = blockIdx.x / filters;
  const int filter = blockIdx.x % filters;
  const int place = blockIdx.y * BLOCK + threadIdx.x;
  if (place >= length) return;
  const float* x = X + (long long)sequence * channels * length;
  const float* f = F + (long long)filter * channels * taps;
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int c = 0; c < channels; ++c) {
    for (int r = 0; r < taps; ++r) {
      const int from = place + r - taps / 2;
      if (from >= 0 && from < length) sum += x[(long long)c * length + from] * f[(long long)c * taps + r];
    }
  }
  Y[(long long)blockIdx.x * length + place] = sum;
}
