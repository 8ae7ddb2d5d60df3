// The rows of a table by their indices, one thread an element.
// evo:param BLOCK 64 128 256 512 1024
// evo:param ITEMS 1 2 4 8
// evo:launch embedding_gather_naive(indices, W, Y, TOKENS, WIDTH) grid(ceil_div(TOKENS * WIDTH, BLOCK * ITEMS)) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 256
#endif

// Elements that a thread copies, BLOCK apart.
#ifndef ITEMS
#define ITEMS 1
#endif

__global__ void embedding_gather_naive(const int* indices, const float* W, float* Y, int tokens, int width) {
  for (int k = 0; k < ITEMS; ++k) {
    const long long element = ((long long)blockIdx.x * ITEMS + k) * BLOCK + threadIdx.x;
    if (element >= (long long)tokens * width) return;
    const int token = element / width;
    const int column = element % width;
    Y[element] = W[(long long)indices[token] * width + column];
  }
}
