// buffers: X u8<255 in [h, w], Y u32 out [256]
// sizes: h=1 w=1; h=17 w=37; h=40 w=64
// evo:memset Y 0
// evo:launch pixels(X, Y, w, h) grid(ceil_div(w, 16), ceil_div(h, 16)) block(16, 16)

__global__ void pixels(unsigned char* image, unsigned int* histo, int width, int height) {
  __shared__ unsigned int bins[256];
  int tid = threadIdx.x * blockDim.y + threadIdx.y;
  for (int i = tid; i < 256; i += blockDim.x * blockDim.y) bins[i] = 0;
  __syncthreads();
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) atomicAdd(&bins[image[y * width + x]], 1);
  __syncthreads();
  for (int i = tid; i < 256; i += blockDim.x * blockDim.y) atomicAdd(&histo[i], bins[i]);
}
