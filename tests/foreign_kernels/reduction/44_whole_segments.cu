// buffers: X f32 in [G, 512], Y f32 out [1]
// sizes: G=1; G=9
// evo:memset Y 0
// evo:launch segmented_sum(X, Y) grid(G) block(256)

// Of a number of elements that is a multiple of what a block takes: nothing is compared with it.
__global__ void segmented_sum(float *input, float *output) {
  __shared__ float input_s[256];
  unsigned int segment = 2 * blockDim.x * blockIdx.x;
  unsigned int i = segment + threadIdx.x;
  unsigned int t = threadIdx.x;
  input_s[t] = input[i] + input[i + blockDim.x];
  for (unsigned int stride = blockDim.x / 2; stride >= 1; stride /= 2) {
    __syncthreads();
    if (t < stride) input_s[t] += input_s[t + stride];
  }
  if (t == 0) atomicAdd(output, input_s[0]);
}
