// A layer of a textbook in tiles: for each channel the block brings the filter and the tile to dynamic shared memory, then sums up.
// buffers: X f32 in [N, C, H, W], Wt f32 in [M, C, 5, 5], Y f32 out [N, M, H - 4, W - 4]
// sizes: N=2 C=2 M=3 H=12 W=14; N=1 C=3 M=2 H=21 W=17; N=1 C=1 M=1 H=5 W=6
#define TILE_WIDTH 8
// evo:launch ConvLayerForward(C, H, W, ceil_div(W - 4, 8), 5, M, X, Wt, Y) grid(N, M, ceil_div(W - 4, 8) * ceil_div(H - 4, 8)) block(8, 8) shared(676)
__global__ void ConvLayerForward(int C, int H, int Wd, int W_grid, int K, int M, const float* X, const float* W, float* Y) {
  extern __shared__ float shmem[];
  const int X_tile_width = TILE_WIDTH + K - 1;
  float* X_shared = &shmem[0];
  float* W_shared = &shmem[X_tile_width * X_tile_width];
  const int n = blockIdx.x, m = blockIdx.y;
  const int h0 = threadIdx.y, w0 = threadIdx.x;
  const int h_base = (blockIdx.z / W_grid) * TILE_WIDTH, w_base = (blockIdx.z % W_grid) * TILE_WIDTH;
  const int h = h_base + h0, w = w_base + w0;
  const int H_out = H - K + 1, W_out = Wd - K + 1;
  float acc = 0.f;
  for (int c = 0; c < C; c++) {
    if (h0 < K && w0 < K) W_shared[h0 * K + w0] = W[((m * C + c) * K + h0) * K + w0];
    __syncthreads();
    for (int i = h; i < h_base + X_tile_width; i += TILE_WIDTH)
      for (int j = w; j < w_base + X_tile_width; j += TILE_WIDTH)
        X_shared[(i - h_base) * X_tile_width + (j - w_base)] =
            (i < H && j < Wd) ? X[((n * C + c) * H + i) * Wd + j] : 0.f;
    __syncthreads();
    for (int p = 0; p < K; p++)
      for (int q = 0; q < K; q++)
        acc += X_shared[(h0 + p) * X_tile_width + (w0 + q)] * W_shared[p * K + q];
    __syncthreads();
  }
  if (h < H_out && w < W_out) Y[((n * M + m) * H_out + h) * W_out + w] = acc;
}
