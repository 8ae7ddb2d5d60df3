// buffers: X i32<5 in [N], Y i32 out [1]
// sizes: N=1; N=1000; N=30011
// evo:memset Y 0
// evo:launch count_zeros(X, Y, N) grid(ceil_div(N, 512)) block(512)

// The barrier itself counts the threads of a block that have found a zero.
__global__ void count_zeros(const int* values, int* zeros, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool is_zero = i < n && values[i] == 0;
  const int in_block = __syncthreads_count(is_zero);
  if (threadIdx.x == 0 && in_block > 0) atomicAdd(zeros, in_block);
}
