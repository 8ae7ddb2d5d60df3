// buffers: A u8 in [H, 3 * W], B u8 out [H, 3 * W]
// sizes: H=1 W=1; H=9 W=30; H=12 W=140
// evo:launch blurKernel(A, B, W, H) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)
#define BLUR_SIZE 1

struct Pixel {
  unsigned char r, g, b;
};

__global__ void blurKernel(Pixel *I_d, Pixel *out, int w, int h) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < h && col < w) {
    int pixelcount = 0;
    float sumR = 0.0f;
    float sumG = 0.0f;
    float sumB = 0.0f;
    for (int pRow = -BLUR_SIZE; pRow < BLUR_SIZE + 1; pRow++) {
      for (int pCol = -BLUR_SIZE; pCol < BLUR_SIZE + 1; pCol++) {
        int patchRow = row + pRow;
        int patchCol = col + pCol;
        if (patchRow >= 0 && patchRow < h && patchCol >= 0 && patchCol < w) {
          int idx = patchRow * w + patchCol;
          sumR += I_d[idx].r;
          sumG += I_d[idx].g;
          sumB += I_d[idx].b;
          pixelcount++;
        }
      }
    }
    out[row * w + col].r = (unsigned char)(sumR / pixelcount);
    out[row * w + col].g = (unsigned char)(sumG / pixelcount);
    out[row * w + col].b = (unsigned char)(sumB / pixelcount);
  }
}
