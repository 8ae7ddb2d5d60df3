// How often each of 256 values occurs: every thread adds its elements to the counts in global memory.
// evo:param BLOCK 64 128 256 512 1024
// evo:param ITEMS 1 2 4 8
// evo:memset H 0
// evo:launch histogram_naive(X, H, N) grid(ceil_div(N, BLOCK * ITEMS)) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 256
#endif

// Elements that a thread counts, BLOCK apart.
#ifndef ITEMS
#define ITEMS 1
#endif

__global__ void histogram_naive(const int* X, int* H, int n) {
  for (int k = 0; k < ITEMS; ++k) {
    const int i = (blockIdx.x * ITEMS + k) * BLOCK + threadIdx.x;
    if (i < n) atomicAdd(&H[X[i]], 1);
  }
}
