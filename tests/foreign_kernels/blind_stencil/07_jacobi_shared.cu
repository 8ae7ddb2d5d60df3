// An exercise on shared memory: a tile with a border that the threads at the edges of the block bring.
// buffers: a f32 in [NY, NX], b f32 out [NY, NX]
// sizes: NX=2 NY=2; NX=18 NY=18; NX=130 NY=50
#define BX 16
#define BY 16

__global__ void jacobi_shared(const float* a, float* b, const int nx, const int ny) {
  __shared__ float s[BY + 2][BX + 2];
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const int x = blockIdx.x * BX + threadIdx.x;
  const int y = blockIdx.y * BY + threadIdx.y;
  const bool inside = x < nx && y < ny;
  if (inside) {
    s[ty][tx] = a[y * nx + x];
    if (threadIdx.x == 0 && x > 0) s[ty][0] = a[y * nx + x - 1];
    if (threadIdx.x == BX - 1 && x < nx - 1) s[ty][BX + 1] = a[y * nx + x + 1];
    if (threadIdx.y == 0 && y > 0) s[0][tx] = a[(y - 1) * nx + x];
    if (threadIdx.y == BY - 1 && y < ny - 1) s[BY + 1][tx] = a[(y + 1) * nx + x];
  }
  __syncthreads();
  if (inside && x > 0 && x < nx - 1 && y > 0 && y < ny - 1)
    b[y * nx + x] = 0.25f * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx]);
}
// evo:launch jacobi_shared(a, b, NX, NY) grid(ceil_div(NX, 16), ceil_div(NY, 16)) block(16, 16)
