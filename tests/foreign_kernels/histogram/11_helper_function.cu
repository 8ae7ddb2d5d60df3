// buffers: X u32<2000000000 in [N], H u32 out [256]
// sizes: N=1; N=1000; N=9001
// evo:memset H 0
// evo:launch count_bytes(X, H, N) grid(ceil_div(N, 256)) block(256)

__device__ void addByte(unsigned int *hist, unsigned int value) { atomicAdd(hist + value, 1); }

__device__ void addWord(unsigned int *hist, unsigned int word) {
  addByte(hist, (word >> 0) & 0xFFU);
  addByte(hist, (word >> 8) & 0xFFU);
  addByte(hist, (word >> 16) & 0xFFU);
  addByte(hist, (word >> 24) & 0xFFU);
}

// Four bytes a word.
__global__ void count_bytes(const unsigned int *words, unsigned int *hist, unsigned int count) {
  for (unsigned int pos = blockIdx.x * blockDim.x + threadIdx.x; pos < count; pos += gridDim.x * blockDim.x) {
    unsigned int word = words[pos];
    addWord(hist, word);
  }
}
