// Batch norm of inference, one thread an element.
// evo:param BLOCK 64 128 256 512 1024
// evo:param ITEMS 1 2 4 8
// evo:launch batch_norm_naive(X, mean, variance, gamma, beta, Y, eps, N, C, H * W) \
//   grid(ceil_div(N * C * H * W, BLOCK * ITEMS)) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 256
#endif

// Elements that a thread computes, BLOCK apart.
#ifndef ITEMS
#define ITEMS 1
#endif

__global__ void batch_norm_naive(const float* X, const float* mean, const float* variance, const float* gamma, const float* beta,
                                 float* Y, float eps, int images, int channels, int pixels) {
  for (int k = 0; k < ITEMS; ++k) {
    const long long element = ((long long)blockIdx.x * ITEMS + k) * BLOCK + threadIdx.x;
    if (element >= (long long)images * channels * pixels) return;
    const int c = element / pixels % channels;
    Y[element] = (X[element] - mean[c]) / sqrtf(variance[c] + eps) * gamma[c] + beta[c];
  }
}
