// buffers: DATA u8<256 in [N], H i32 out [200]
// sizes: N=1; N=1000; N=30011
// evo:memset H 0
// evo:launch count_levels(DATA, H, N) grid(ceil_div(N, 256)) block(256)

#define LEVELS 200

// Private counts already, of which threads below the number of levels take one each.
__global__ void count_levels(const unsigned char *data, int *hist, int n) {
  __shared__ int local[LEVELS];
  if (threadIdx.x < LEVELS) local[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int level = data[i] * LEVELS / 256;
    atomicAdd(&local[level], 1);
  }
  __syncthreads();
  if (threadIdx.x < LEVELS) {
    int count = local[threadIdx.x];
    if (count > 0) atomicAdd(&hist[threadIdx.x], count);
  }
}
