// A line of integers with its ends around it. A block's part of it is in shared memory, and only whole blocks are right.
// buffers: arr i32<1000 in [N + 8], mask i32<10 in [M], res i32 out [N]
// sizes: N=128 M=7; N=256 M=5; N=640 M=9
// evo:launch convolution_1d(arr, mask, res, N, M) grid(ceil_div(N, 128)) block(128) shared((128 + M) * 4)
__global__ void convolution_1d(int *array, int *mask, int *result, int n, int m) {
  extern __shared__ int s_array[];
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  int r = m / 2, d = 2 * r;
  int n_padded = blockDim.x + d;
  int offset = threadIdx.x + blockDim.x;
  int g_offset = blockDim.x * blockIdx.x + offset;
  s_array[threadIdx.x] = array[tid];
  if (offset < n_padded) s_array[offset] = array[g_offset];
  __syncthreads();
  int temp = 0;
  for (int j = 0; j < m; j++) temp += s_array[threadIdx.x + j] * mask[j];
  result[tid] = temp;
}
