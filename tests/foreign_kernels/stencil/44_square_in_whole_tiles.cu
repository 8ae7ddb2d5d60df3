// buffers: A f32 in [N, N], B f32 inout [N, N]
// sizes: N=16; N=48; N=80
// evo:launch relax(A, B, N) grid(N / 16, N / 16) block(16, 16)

// The tile is filled in strides, and lanes exchange nothing but by it.
__global__ void relax(const float* u, float* v, int n) {
  __shared__ float tile[18 * 18];
  const int x0 = blockIdx.x * 16, y0 = blockIdx.y * 16;
  for (int i = threadIdx.y * 16 + threadIdx.x; i < 18 * 18; i += 256) {
    const int x = x0 + i % 18 - 1, y = y0 + i / 18 - 1;
    if (x >= 0 && x < n && y >= 0 && y < n) tile[i] = u[y * n + x];
  }
  __syncthreads();
  const int x = x0 + threadIdx.x, y = y0 + threadIdx.y, at = (threadIdx.y + 1) * 18 + threadIdx.x + 1;
  if (x > 0 && x < n - 1 && y > 0 && y < n - 1)
    v[y * n + x] = 0.25f * (tile[at - 1] + tile[at + 1] + tile[at - 18] + tile[at + 18]);
}
