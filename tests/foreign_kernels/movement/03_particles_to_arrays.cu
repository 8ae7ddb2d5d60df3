// buffers: P f32 in [N, 6], X f32 out [N], Y f32 out [N], Z f32 out [N], E f32 out [N]
// sizes: N=1; N=300; N=1003
// evo:launch split(P, X, Y, Z, E, N) grid(ceil_div(N, 128)) block(128)

struct Particle {
  float x, y, z;
  float vx, vy, vz;
};

__global__ void split(const Particle* p, float* x, float* y, float* z, float* energy, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Particle q = p[i];
  x[i] = q.x;
  y[i] = q.y;
  z[i] = q.z;
  energy[i] = 0.5f * (q.vx * q.vx + q.vy * q.vy + q.vz * q.vz);
}
