// Streaming of a lattice gas, structure of arrays, periodic in both directions, nine populations from an array of offsets.
// buffers: f f32 in [9, NY, NX], g f32 out [9, NY, NX]
// sizes: NX=1 NY=1; NX=20 NY=13; NX=128 NY=9
__constant__ int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};

__global__ void stream(const float* __restrict__ f, float* __restrict__ g, int nx, int ny) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y;
  if (x >= nx) return;
  const int cells = nx * ny;
  for (int q = 0; q < 9; q++) {
    const int xs = (x - cx[q] + nx) % nx;
    const int ys = (y - cy[q] + ny) % ny;
    g[q * cells + y * nx + x] = f[q * cells + ys * nx + xs];
  }
}
// evo:launch stream(f, g, NX, NY) grid(ceil_div(NX, 128), NY) block(128)
