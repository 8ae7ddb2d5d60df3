// buffers: SEQ u8<4 in [N], KMERS u32 out [256]
// sizes: N=1; N=1000; N=9001
// evo:memset KMERS 0
// evo:launch count_kmers<4>(SEQ, N, KMERS) grid(ceil_div(N, 128)) block(128)
#include <stdint.h>

// Counts all words of K bases of a sequence of two-bit codes.
template <int K>
__global__ void count_kmers(const uint8_t* __restrict__ seq, int length, uint32_t* __restrict__ counts) {
  int start = blockIdx.x * blockDim.x + threadIdx.x;
  if (start + K > length) return;
  uint32_t code = 0;
#pragma unroll
  for (int k = 0; k < K; ++k) code = (code << 2) | (seq[start + k] & 3u);
  atomicAdd(counts + code, 1u);
}
