// buffers: IMG u8<256 in [H, W, 4], HIST u32 out [3, 256]
// sizes: H=1 W=1; H=20 W=37; H=64 W=130
// evo:memset HIST 0
// evo:launch histogram_rgba(IMG, W, H, HIST) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)

// Three histograms of an image: red, then green, then blue.
__global__ void histogram_rgba(const uchar4* image, int width, int height, unsigned int* hist) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;

  uchar4 p = image[y * width + x];
  atomicAdd(&hist[p.x], 1);
  atomicAdd(&hist[256 + p.y], 1);
  atomicAdd(&hist[512 + p.z], 1);
}
