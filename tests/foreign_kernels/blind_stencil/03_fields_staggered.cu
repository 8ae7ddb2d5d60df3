// Electric and magnetic fields on a staggered grid, three kernels a step, as a benchmark of polyhedral compilers has it.
// buffers: ex f32 inout [NX, NY], ey f32 inout [NX, NY], hz f32 inout [NX, NY]
// sizes: NX=1 NY=1; NX=13 NY=20; NX=40 NY=130
__global__ void fdtd_step1(float* ey, const float* hz, int nx, int ny, float source) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < nx && j < ny) {
    if (i == 0)
      ey[i * ny + j] = source;
    else
      ey[i * ny + j] = ey[i * ny + j] - 0.5f * (hz[i * ny + j] - hz[(i - 1) * ny + j]);
  }
}

__global__ void fdtd_step2(float* ex, const float* hz, int nx, int ny) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if ((i < nx) && (j < ny) && (j > 0)) {
    ex[i * ny + j] = ex[i * ny + j] - 0.5f * (hz[i * ny + j] - hz[i * ny + (j - 1)]);
  }
}

__global__ void fdtd_step3(const float* ex, const float* ey, float* hz, int nx, int ny) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if ((i < (nx - 1)) && (j < (ny - 1))) {
    hz[i * ny + j] = hz[i * ny + j] -
                     0.7f * (ex[i * ny + (j + 1)] - ex[i * ny + j] + ey[(i + 1) * ny + j] - ey[i * ny + j]);
  }
}
// evo:launch fdtd_step1(ey, hz, NX, NY, f32(0.25)) grid(ceil_div(NY, 32), ceil_div(NX, 8)) block(32, 8)
// evo:launch fdtd_step2(ex, hz, NX, NY) grid(ceil_div(NY, 32), ceil_div(NX, 8)) block(32, 8)
// evo:launch fdtd_step3(ex, ey, hz, NX, NY) grid(ceil_div(NY, 32), ceil_div(NX, 8)) block(32, 8)
