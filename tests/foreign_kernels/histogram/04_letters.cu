// buffers: X u8<128 in [N], H u32 out [7]
// sizes: N=1; N=1000; N=9001
// evo:memset H 0
// evo:launch letters(X, N, H) grid(ceil_div(N, 128)) block(128)

// Four letters a bin; other characters do not count.
__global__ void letters(char* text, unsigned int length, unsigned int* histo) {
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < length) {
    int alphabet_position = text[i] - 'a';
    if (alphabet_position >= 0 && alphabet_position < 26) {
      atomicAdd(&(histo[alphabet_position / 4]), 1);
    }
  }
}
