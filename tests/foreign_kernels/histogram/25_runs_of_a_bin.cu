// buffers: TEXT u8<26 in [N], H i32 out [7]
// sizes: N=1; N=1000; N=30011
// evo:memset H 0
// evo:launch letters(TEXT, H, N) grid(min(40, ceil_div(N, 128))) block(128)

#define BINS 7

// Private counts already; a thread adds up as long as it meets the same bin.
__global__ void letters(const unsigned char *text, int *hist, unsigned length) {
  __shared__ int hist_s[BINS];
  for (unsigned b = threadIdx.x; b < BINS; b += blockDim.x) hist_s[b] = 0;
  __syncthreads();
  int before = -1, met = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += blockDim.x * gridDim.x) {
    int bin = text[i] / 4;
    if (bin == before) {
      ++met;
    } else {
      if (met > 0) atomicAdd(&(hist_s[before]), met);
      before = bin;
      met = 1;
    }
  }
  if (met > 0) atomicAdd(&(hist_s[before]), met);
  __syncthreads();
  for (unsigned b = threadIdx.x; b < BINS; b += blockDim.x) {
    int count = hist_s[b];
    if (count > 0) {
      atomicAdd(&(hist[b]), count);
    }
  }
}
