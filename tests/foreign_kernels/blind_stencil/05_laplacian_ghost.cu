// Diffusion with one ghost cell on each side; threads of a flat block, pointers to the cell and its neighbours.
// buffers: u f64 in [NZ + 2, NY + 2, NX + 2], un f64 out [NZ + 2, NY + 2, NX + 2]
// sizes: NX=1 NY=1 NZ=1; NX=30 NY=9 NZ=7; NX=140 NY=12 NZ=3
__global__ void diffuse3d(const double* __restrict__ u, double* __restrict__ un, int nx, int ny, int nz, double alpha) {
  const long tid = (long)blockIdx.x * blockDim.x + threadIdx.x;
  const long cells = (long)nx * ny * nz;
  if (tid < cells) {
    const int i = tid % nx + 1;
    const int j = (tid / nx) % ny + 1;
    const int k = tid / ((long)nx * ny) + 1;
    const int sy = nx + 2;
    const int sz = (nx + 2) * (ny + 2);
    const double* p = u + (long)k * sz + j * sy + i;
    double lap = p[1] + p[-1];
    lap += p[sy] + p[-sy];
    lap += p[sz] + p[-sz];
    lap -= 6.0 * *p;
    un[(long)k * sz + j * sy + i] = *p + alpha * lap;
  }
}
// evo:launch diffuse3d(u, un, NX, NY, NZ, f64(0.1)) grid(ceil_div(NX * NY * NZ, 256)) block(256)
