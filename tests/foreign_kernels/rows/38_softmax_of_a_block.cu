// buffers: X f32 in [M, N], Y f32 out [M, N]
// sizes: M=1 N=1; M=7 N=300; M=3 N=1025
// evo:launch softmax_block(X, Y, M, N) grid(M) block(128) shared(128 * 4)

// A block a row: trees in shared memory, whose first element everybody reads.
__global__ void softmax_block(const float *in, float *out, int rows, int cols) {
  extern __shared__ float buffer[];
  int row = blockIdx.x, tid = threadIdx.x;
  if (row < rows) {
    const float *x = in + row * cols;
    float largest = -INFINITY;
    for (int i = tid; i < cols; i += blockDim.x) largest = fmaxf(largest, x[i]);
    buffer[tid] = largest;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
      if (tid < stride) buffer[tid] = fmaxf(buffer[tid], buffer[tid + stride]);
      __syncthreads();
    }
    float row_max = buffer[0];
    __syncthreads();
    float sum = 0.0f;
    for (int i = tid; i < cols; i += blockDim.x) {
      float e = expf(x[i] - row_max);
      out[row * cols + i] = e;
      sum += e;
    }
    buffer[tid] = sum;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
      if (tid < stride) buffer[tid] += buffer[tid + stride];
      __syncthreads();
    }
    sum = buffer[0];
    for (int i = tid; i < cols; i += blockDim.x) out[row * cols + i] /= sum;
  }
}
