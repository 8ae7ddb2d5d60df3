// The gradient of a layer's input, in a student's network from scratch: filters turned round, rows and columns in 2-D blocks.
// buffers: dy f32 in [N, K, H - 2, W - 2], w f32 in [K, C, 3, 3], dx f32 out [N, C, H, W]
// sizes: N=2 C=3 K=4 H=9 W=12; N=1 C=2 K=3 H=5 W=35; N=1 C=1 K=1 H=3 W=3
__device__ inline int idx4(int a, int b, int c, int d, int B, int C, int D) { return ((a * B + b) * C + c) * D + d; }

__global__ void conv_backward_input(const float* dy, const float* w, float* dx, int N, int C, int K, int H, int W, int R) {
  int P = H - R + 1, Q = W - R + 1;
  int j = blockDim.x * blockIdx.x + threadIdx.x;
  int i = blockDim.y * blockIdx.y + threadIdx.y;
  int c = blockIdx.z % C;
  int n = blockIdx.z / C;
  if (i >= H || j >= W) return;
  double total = 0.0;
  for (int k = 0; k < K; k++)
    for (int r = 0; r < R; r++)
      for (int s = 0; s < R; s++) {
        int p = i - r, q = j - s;
        if (p >= 0 && p < P && q >= 0 && q < Q)
          total += dy[idx4(n, k, p, q, K, P, Q)] * w[idx4(k, c, r, s, C, R, R)];
      }
  dx[idx4(n, c, i, j, C, H, W)] = (float)total;
}
// evo:launch conv_backward_input(dy, w, dx, N, C, K, H, W, 3) grid(ceil_div(W, 16), ceil_div(H, 8), N * C) block(16, 8)
