// buffers: P f32 in [N], Q f64 in [N], RHO f64 out [100]
// sizes: N=1; N=1000; N=9001
// evo:memset RHO 0
// evo:launch deposit(P, Q, RHO, N, 100, f32(10.0)) grid(ceil_div(N, 256)) block(256)

// Charges of particles in cells, to the nearest two.
__global__ void deposit(const float* position, const double* charge, double* rho, int n, int cells, float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float at = fminf(fmaxf(position[i] * scale + 0.5f * cells, 0.0f), cells - 1.5f);
    const int cell = (int)at;
    const double right = at - cell;
    atomicAdd(rho + cell, charge[i] * (1.0 - right));
    atomicAdd(rho + cell + 1, charge[i] * right);
  }
}
