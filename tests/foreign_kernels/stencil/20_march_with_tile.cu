// buffers: A f32 in [NZ, NY, NX], B f32 out [NZ, NY, NX]
// sizes: NZ=5 NY=1 NX=1; NZ=7 NY=9 NX=30; NZ=6 NY=12 NX=100
// evo:launch march<2>(A, B, NX, NY, NZ) grid(ceil_div(NX, 16), ceil_div(NY, 8)) block(16, 8)

// A tile of each plane in shared memory, the planes before and behind it in registers.
template <int R>
__global__ void march(const float* in, float* out, int nx, int ny, int nz) {
  __shared__ float tile[8 + 2 * R][16 + 2 * R];
  const int tx = threadIdx.x + R, ty = threadIdx.y + R;
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const bool valid = x < nx && y < ny;
  float column[2 * R + 1];
  for (int d = 0; d < 2 * R; ++d) column[d + 1] = valid ? in[(d * ny + y) * nx + x] : 0.0f;
  for (int z = R; z < nz - R; ++z) {
    for (int d = 0; d < 2 * R; ++d) column[d] = column[d + 1];
    column[2 * R] = valid ? in[((z + R) * ny + y) * nx + x] : 0.0f;
    __syncthreads();
    for (int j = threadIdx.y; j < 8 + 2 * R; j += 8)
      for (int i = threadIdx.x; i < 16 + 2 * R; i += 16) {
        const int gx = blockIdx.x * 16 + i - R, gy = blockIdx.y * 8 + j - R;
        tile[j][i] = gx >= 0 && gx < nx && gy >= 0 && gy < ny ? in[(z * ny + gy) * nx + gx] : 0.0f;
      }
    __syncthreads();
    float sum = -6.0f * tile[ty][tx];
    for (int d = 1; d <= R; ++d)
      sum += (tile[ty][tx - d] + tile[ty][tx + d] + tile[ty - d][tx] + tile[ty + d][tx] + column[R - d] + column[R + d]) / d;
    if (valid) out[(z * ny + y) * nx + x] = sum;
  }
}
