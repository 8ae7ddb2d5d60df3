// The rotary embedding, one thread a pair of elements.
// evo:param BLOCK 64 128 256 512 1024
// evo:param ITEMS 1 2 4 8
// evo:launch rotary_embedding_naive(X, cosine, sine, Y, N * H * L, L, HALF) \
//   grid(ceil_div(N * H * L * HALF, BLOCK * ITEMS)) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 256
#endif

// Pairs of a thread, BLOCK apart.
#ifndef ITEMS
#define ITEMS 1
#endif

__global__ void rotary_embedding_naive(const float* X, const float* cosine, const float* sine, float* Y, int rows, int places,
                                       int half_width) {
  for (int k = 0; k < ITEMS; ++k) {
    const long long pair = ((long long)blockIdx.x * ITEMS + k) * BLOCK + threadIdx.x;
    if (pair >= (long long)rows * half_width) return;
    const int row = pair / half_width;
    const int i = pair % half_width;
    const float* x = X + (long long)row * 2 * half_width;
    float* y = Y + (long long)row * 2 * half_width;
    const float c = cosine[(long long)(row % places) * half_width + i];
    const float s = sine[(long long)(row % places) * half_width + i];
    y[i] = x[i] * c - x[half_width + i] * s;
    y[half_width + i] = x[half_width + i] * c + x[i] * s;
  }
}
