// buffers: A f32 in [D, H, W], B f32 out [D, H, W]
// sizes: D=1 H=1 W=1; D=7 H=9 W=30; D=3 H=12 W=140
// evo:launch stencil_27pt(A, B, W, H, D) grid(ceil_div(W, 8), ceil_div(H, 8), ceil_div(D, 4)) block(8, 8, 4)

__global__ void stencil_27pt(const float *in, float *out, int nx, int ny, int nz) {
  const float coeff[4] = {0.5f, 0.05f, 0.02f, 0.01f};
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < 1 || x >= nx - 1) return;
  if (y < 1 || y >= ny - 1) return;
  if (z < 1 || z >= nz - 1) return;
  float sum = 0.0f;
  for (int dz = -1; dz <= 1; dz++)
    for (int dy = -1; dy <= 1; dy++)
      for (int dx = -1; dx <= 1; dx++)
        sum += coeff[abs(dx) + abs(dy) + abs(dz)] * in[(z + dz) * ny * nx + (y + dy) * nx + (x + dx)];
  out[z * ny * nx + y * nx + x] = sum;
}
