// A line of integers, each thread an element; the launch line says how many taps there are.
// buffers: arr i32<1000 in [N], mask i32<10 in [M], res i32 out [N]
// sizes: N=1 M=1; N=300 M=7; N=1027 M=5
// evo:launch convolution_1d(arr, mask, res, N, M) grid(ceil_div(N, 256)) block(256)
__global__ void convolution_1d(int *array, int *mask, int *result, int n, int m) {
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  int r = m / 2;
  int start = tid - r;
  int temp = 0;
  for (int j = 0; j < m; j++) {
    if (((start + j) >= 0) && (start + j < n)) temp += array[start + j] * mask[j];
  }
  if (tid < n) result[tid] = temp;
}
