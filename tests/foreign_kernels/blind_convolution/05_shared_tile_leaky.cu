// A course project: tiles of the input and one filter in shared memory, an output channel a block, bias and leaky ReLU.
// buffers: X f32 in [N, C, H, W], K f32 in [M, C, 3, 3], b f32 in [M], Y f32 out [N, M, H - 2, W - 2]
// sizes: N=2 C=3 M=4 H=12 W=15; N=1 C=4 M=2 H=21 W=36; N=1 C=1 M=3 H=3 W=4
#define TILE 8
#define R 3
#define SIDE (TILE + R - 1)

__device__ __forceinline__ float leaky(float v) { return v > 0.0f ? v : 0.1f * v; }

__global__ void conv_shared(const float* X, const float* K, const float* b, float* Y, int C, int H, int W, int M) {
  __shared__ float img[SIDE][SIDE];
  __shared__ float flt[R][R];
  const int P = H - R + 1;
  const int Q = W - R + 1;
  const int m = blockIdx.z % M;
  const int n = blockIdx.z / M;
  const int ty = threadIdx.y;
  const int tx = threadIdx.x;
  const int y0 = blockIdx.y * TILE;
  const int x0 = blockIdx.x * TILE;
  float acc = 0.0f;
  for (int c = 0; c < C; c++) {
    if (ty < R && tx < R) flt[ty][tx] = K[((m * C + c) * R + ty) * R + tx];
    for (int i = ty; i < SIDE; i += TILE) {
      for (int j = tx; j < SIDE; j += TILE) {
        if (y0 + i < H && x0 + j < W)
          img[i][j] = X[((n * C + c) * H + y0 + i) * W + x0 + j];
        else
          img[i][j] = 0.0f;
      }
    }
    __syncthreads();
    for (int r = 0; r < R; r++)
      for (int s = 0; s < R; s++)
        acc += img[ty + r][tx + s] * flt[r][s];
    __syncthreads();
  }
  if (y0 + ty < P && x0 + tx < Q) Y[((n * M + m) * P + y0 + ty) * Q + x0 + tx] = leaky(acc + b[m]);
}
// evo:launch conv_shared(X, K, b, Y, C, H, W, M) grid(ceil_div(W - 2, 8), ceil_div(H - 2, 8), N * M) block(8, 8)
