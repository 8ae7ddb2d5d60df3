// evo:memset energy 0
// evo:launch energyOf(signal, energy, N) grid(ceil_div(N, 128)) block(128)

// The textbook's first version: neighbours first, the barrier at the start of each step.
__global__ void energyOf(const float* input, float* output, int length) {
  __shared__ float partialSum[128];
  unsigned int t = threadIdx.x;
  unsigned int start = blockIdx.x * blockDim.x;
  if (start + t < length) {
    partialSum[t] = powf(input[start + t], 2.0f);
  } else {
    partialSum[t] = 0.0f;
  }
  for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
    __syncthreads();
    if (t % (2 * stride) == 0) partialSum[t] += partialSum[t + stride];
  }
  if (t == 0) atomicAdd(&output[0], partialSum[0]);
}
