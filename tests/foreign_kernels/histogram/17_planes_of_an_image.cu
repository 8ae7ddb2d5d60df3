// buffers: X u8<256 in [C, H, W], G u32 out [C, 256]
// sizes: C=1 H=1 W=1; C=3 H=33 W=50; C=4 H=40 W=90
// evo:memset G 0
// evo:launch plane_histograms(X, G, W, H) grid(ceil_div(W * H, 256), C) block(256)

__global__ void plane_histograms(const unsigned char* image, unsigned* hist, int width, int height) {
  const int area = width * height;
  const unsigned char* plane = image + blockIdx.y * area;
  unsigned* own = hist + 256 * blockIdx.y;
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel >= area) return;
  atomicAdd(own + plane[pixel], 1);
}
