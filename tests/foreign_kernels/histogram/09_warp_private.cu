// buffers: X i32<64 in [N], H i32 out [64]
// sizes: N=1; N=1000; N=20001
// evo:memset H 0
// evo:launch perWarp(X, H, N) grid(16) block(128)
#define WARPS 4
#define NBINS 64

__global__ void perWarp(const int *values, int *hist, int n) {
  __shared__ int own[WARPS][NBINS];
  int warp = threadIdx.x / 32;
  for (int b = threadIdx.x; b < WARPS * NBINS; b += blockDim.x) own[b / NBINS][b % NBINS] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[warp][values[i]], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < NBINS; b += blockDim.x) {
    int sum = 0;
    for (int w = 0; w < WARPS; w++) sum += own[w][b];
    atomicAdd(&hist[b], sum);
  }
}
