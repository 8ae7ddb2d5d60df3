// buffers: X f32 in [N], Y f32 out [1]
// sizes: N=2; N=256; N=1024
// evo:launch convergent(X, Y) grid(1) block(N / 2) shared(N * 4)

// A textbook's: one block that has half as many threads as there are elements, which are a power of two.
__global__ void convergent(const float* input, float* output) {
  extern __shared__ float part[];
  unsigned int t = threadIdx.x;
  part[t] = input[t];
  part[t + blockDim.x] = input[t + blockDim.x];
  for (unsigned int stride = blockDim.x; stride >= 1; stride /= 2) {
    __syncthreads();
    if (t < stride) part[t] += part[t + stride];
  }
  if (t == 0) *output = part[0];
}
