// Each block leaves its bins in scratch memory, and a second kernel adds up those of all blocks.
// buffers: X u8<256 in [N], H u32 out [256]
// sizes: N=1; N=1000; N=20001
// evo:workspace P u32 [20, 256]
// evo:launch count_of_blocks(X, N, P) grid(20) block(128)
// evo:launch add_blocks(P, 20, H) grid(1) block(256)

#define BINS 256

__global__ void count_of_blocks(const unsigned char* data, int n, unsigned int* partial) {
  __shared__ unsigned int own[BINS];
  for (int b = threadIdx.x; b < BINS; b += blockDim.x) own[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[data[i]], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < BINS; b += blockDim.x) partial[blockIdx.x * BINS + b] = own[b];
}

__global__ void add_blocks(const unsigned int* partial, int blocks, unsigned int* hist) {
  unsigned int sum = 0;
  for (int p = 0; p < blocks; p++) sum += partial[p * BINS + threadIdx.x];
  hist[threadIdx.x] = sum;
}
