// buffers: A f32 in [H, W], B f32 out [H, W]
// sizes: H=5 W=5; H=9 W=30; H=12 W=140
// evo:launch ring(A, B, W, H, f32(0.4), f32(0.1)) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)

// What is past an edge is at the other one.
__global__ void ring(const float* in, float* out, int nx, int ny, float center, float side) {
  __shared__ float t[10][34];
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  auto at = [&](int xx, int yy) {
    xx = (xx + nx) % nx;
    yy = (yy + ny) % ny;
    return in[yy * nx + xx];
  };
  t[ty][tx] = at(x, y);
  if (threadIdx.x == 0) t[ty][0] = at(x - 1, y);
  if (threadIdx.x == 31) t[ty][33] = at(x + 1, y);
  if (x == nx - 1) t[ty][tx + 1] = at(x + 1, y);
  if (threadIdx.y == 0) t[0][tx] = at(x, y - 1);
  if (threadIdx.y == 7) t[9][tx] = at(x, y + 1);
  if (y == ny - 1) t[ty + 1][tx] = at(x, y + 1);
  __syncthreads();
  if (x >= nx || y >= ny) return;
  out[y * nx + x] = center * t[ty][tx] + side * (t[ty][tx - 1] + t[ty][tx + 1] + t[ty - 1][tx] + t[ty + 1][tx]);
}
