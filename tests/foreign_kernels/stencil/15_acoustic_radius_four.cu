// buffers: U f32 in [NZ, NY, NX], UP f32 inout [NZ, NY, NX], VEL f32 in [NZ, NY, NX]
// sizes: NZ=3 NY=5 NX=7; NZ=10 NY=12 NX=40; NZ=13 NY=9 NX=70
// evo:launch acoustic_step(U, UP, VEL, NX, NY, NZ) grid(ceil_div(NX, 32), ceil_div(NY, 4), ceil_div(NZ, 2)) block(32, 4, 2)
#define HALF 4
__constant__ float c_fd[HALF + 1] = {-2.84722222f, 1.6f, -0.2f, 0.02539683f, -0.00178571f};

// Second order in time, eighth in space. The oldest level is overwritten by the next one.
__global__ void acoustic_step(const float* __restrict__ u, float* __restrict__ u_prev, const float* __restrict__ vel2dt2,
                              int nx, int ny, int nz) {
  const int ix = threadIdx.x + blockDim.x * blockIdx.x;
  const int iy = threadIdx.y + blockDim.y * blockIdx.y;
  const int iz = threadIdx.z + blockDim.z * blockIdx.z;
  if (ix < HALF || ix >= nx - HALF || iy < HALF || iy >= ny - HALF || iz < HALF || iz >= nz - HALF) return;
  const int sy = nx, sz = nx * ny;
  const int me = ix + iy * sy + iz * sz;
  float lap = 3.0f * c_fd[0] * u[me];
#pragma unroll
  for (int r = 1; r <= HALF; ++r) {
    lap += c_fd[r] * (u[me - r] + u[me + r]);
    lap += c_fd[r] * (u[me - r * sy] + u[me + r * sy]);
    lap += c_fd[r] * (u[me - r * sz] + u[me + r * sz]);
  }
  u_prev[me] = 2.0f * u[me] - u_prev[me] + vel2dt2[me] * lap;
}
