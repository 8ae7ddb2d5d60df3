// buffers: POS f32 in [N, 3], COUNT i32 out [8, 8, 8], CELL i32 out [N]
// sizes: N=1; N=1000; N=5001
// evo:memset COUNT 0
// evo:launch count_particles(POS, {8, 8, 8, f32(1.25), f32(3.0)}, COUNT, CELL, N) grid(ceil_div(N, 128)) block(128)

struct CellGrid {
  int nx, ny, nz;
  float inverse_width;
  float origin;
};

__device__ __forceinline__ int clampi(int v, int lo, int hi) { return v < lo ? lo : (v > hi ? hi : v); }

__device__ int cell_of(const float3& r, const CellGrid& grid) {
  const int cx = clampi((int)floorf((r.x + grid.origin) * grid.inverse_width), 0, grid.nx - 1);
  const int cy = clampi((int)floorf((r.y + grid.origin) * grid.inverse_width), 0, grid.ny - 1);
  const int cz = clampi((int)floorf((r.z + grid.origin) * grid.inverse_width), 0, grid.nz - 1);
  return (cz * grid.ny + cy) * grid.nx + cx;
}

// First step of a cell list: the cell of each particle, and how many each cell has.
__global__ void count_particles(const float3* position, CellGrid grid, int* count, int* cell, int n) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p < n) {
    const int c = cell_of(position[p], grid);
    cell[p] = c;
    atomicAdd(&count[c], 1);
  }
}
