// The tiled filter of a textbook: the middle, the left and the right halo come to shared memory in three steps, the mask is constant.
// buffers: N_d f32 in [n], M_d f32 in [7], P_d f32 out [n]
// sizes: n=300; n=1000; n=5
#define MAX_MASK_WIDTH 7
#define TILE_SIZE 64
__constant__ float M[MAX_MASK_WIDTH];
// evo:constant M = M_d
// evo:launch convolution_1D_tiled_kernel(N_d, P_d, 7, n) grid(ceil_div(n, 64)) block(64)
__global__ void convolution_1D_tiled_kernel(float *N, float *P, int Mask_Width, int Width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float N_ds[TILE_SIZE + MAX_MASK_WIDTH - 1];
  int n = MAX_MASK_WIDTH / 2;
  int halo_index_left = (blockIdx.x - 1) * blockDim.x + threadIdx.x;
  if (threadIdx.x >= blockDim.x - n) {
    N_ds[threadIdx.x - (blockDim.x - n)] = (halo_index_left < 0) ? 0 : N[halo_index_left];
  }
  N_ds[n + threadIdx.x] = i < Width ? N[i] : 0;
  int halo_index_right = (blockIdx.x + 1) * blockDim.x + threadIdx.x;
  if (threadIdx.x < n) {
    N_ds[n + blockDim.x + threadIdx.x] = (halo_index_right >= Width) ? 0 : N[halo_index_right];
  }
  __syncthreads();
  float Pvalue = 0;
  for (int j = 0; j < MAX_MASK_WIDTH; j++) {
    Pvalue += N_ds[threadIdx.x + j] * M[j];
  }
  if (i < Width) P[i] = Pvalue;
}
