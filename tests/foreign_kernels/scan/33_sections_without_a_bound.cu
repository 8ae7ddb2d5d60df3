// buffers: X i32<100 in [G, 128], Y i32 out [G, 128]
// sizes: G=1; G=7
// evo:launch scan_sections(Y, X) grid(G) block(64)

// Two elements a thread in place in shared memory (Blelloch); the host takes care that sections are whole.
__global__ void scan_sections(int* out, const int* in) {
  __shared__ int temp[128];
  int t = threadIdx.x, offset = 1, base = 2 * blockDim.x * blockIdx.x;
  temp[t] = in[base + t];
  temp[t + 64] = in[base + t + 64];
  for (int d = 64; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) temp[offset * (2 * t + 2) - 1] += temp[offset * (2 * t + 1) - 1];
    offset <<= 1;
  }
  if (t == 0) temp[127] = 0;
  for (int d = 1; d < 128; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int left = temp[offset * (2 * t + 1) - 1];
      temp[offset * (2 * t + 1) - 1] = temp[offset * (2 * t + 2) - 1];
      temp[offset * (2 * t + 2) - 1] += left;
    }
  }
  __syncthreads();
  out[base + t] = temp[t];
  out[base + t + 64] = temp[t + 64];
}
