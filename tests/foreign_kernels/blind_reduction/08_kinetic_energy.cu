// buffers: VX f32 in [N], VY f32 in [N], VZ f32 in [N], M f32 in [N], E f64 out [1]
// sizes: N=1; N=1000; N=9011
// evo:memset E 0
// evo:launch kinetic_energy({VX, VY, VZ, M}, N, E) grid(ceil_div(N, 256)) block(256)

struct Particles {
  const float *vx, *vy, *vz, *m;
};

__global__ void kinetic_energy(Particles p, int n, double *energy)
{
  double e = 0.0;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    double v2 = p.vx[i] * p.vx[i] + p.vy[i] * p.vy[i] + p.vz[i] * p.vz[i];
    e = 0.5 * p.m[i] * v2;
  }
  for (int offset = warpSize / 2; offset > 0; offset /= 2)
    e += __shfl_down_sync(0xffffffff, e, offset);
  if (threadIdx.x % warpSize == 0)
    atomicAdd(energy, e);
}
