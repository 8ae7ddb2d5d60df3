// buffers: A f32 in [NZ, NY, NX], B f32 out [NZ, NY, NX]
// sizes: NZ=3 NY=1 NX=1; NZ=7 NY=9 NX=30; NZ=6 NY=12 NX=100
// evo:launch diffuse(A, B, NX, NY, NZ, f32(0.4), f32(0.1)) grid(ceil_div(NX, 32), ceil_div(NY, 8)) block(32, 8)

// The present plane is in shared memory; those before and behind it are in registers.
__global__ void __launch_bounds__(256) diffuse(const float* in, float* out, int nx, int ny, int nz, float c0, float c1) {
  __shared__ float plane[10][34];
  const int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const bool valid = i < nx && j < ny, interior = i > 0 && i < nx - 1 && j > 0 && j < ny - 1;
  const int stride = nx * ny;
  int at = j * nx + i;
  float below = 0.0f, current = 0.0f, above = 0.0f;
  if (valid) below = in[at], current = in[at + stride];
  for (int k = 1; k < nz - 1; k++) {
    at += stride;
    if (valid) above = in[at + stride];
    __syncthreads();
    plane[ty][tx] = current;
    if (valid) {
      if (threadIdx.x == 0 && i > 0) plane[ty][0] = in[at - 1];
      if (threadIdx.x == 31 && i < nx - 1) plane[ty][33] = in[at + 1];
      if (threadIdx.y == 0 && j > 0) plane[0][tx] = in[at - nx];
      if (threadIdx.y == 7 && j < ny - 1) plane[9][tx] = in[at + nx];
    }
    __syncthreads();
    if (interior)
      out[at] = c0 * current + c1 * (plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx] + below + above);
    below = current;
    current = above;
  }
}
