// buffers: X f32 in [N, C, H, W], M f32 out [C], T f32 out [C]
// sizes: N=1 C=1 H=1 W=1; N=3 C=7 H=5 W=9; N=2 C=3 H=17 W=130
// evo:launch channelRange(X, M, T, N, C, H * W) grid(C) block(128)

// The mean and the largest absolute value of each channel, a row of a plane after the other.
__global__ void channelRange(const float* __restrict__ input, float* __restrict__ mean, float* __restrict__ top, int batch,
                             int channels, int plane) {
  float sum = 0.0f, largest = 0.0f;
  for (int b = 0; b < batch; ++b) {
    const float* values = input + (b * channels + blockIdx.x) * plane;
    for (int k = threadIdx.x; k < plane; k += blockDim.x) {
      sum += values[k];
      largest = fmaxf(largest, fabsf(values[k]));
    }
  }
  for (int d = 16; d > 0; d >>= 1) {
    sum += __shfl_down_sync(0xffffffffu, sum, d);
    largest = fmaxf(largest, __shfl_down_sync(0xffffffffu, largest, d));
  }
  __shared__ float sums[4], tops[4];
  if (threadIdx.x % 32 == 0) {
    sums[threadIdx.x / 32] = sum;
    tops[threadIdx.x / 32] = largest;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    mean[blockIdx.x] = (sums[0] + sums[1] + sums[2] + sums[3]) / (batch * plane);
    top[blockIdx.x] = fmaxf(fmaxf(tops[0], tops[1]), fmaxf(tops[2], tops[3]));
  }
}
