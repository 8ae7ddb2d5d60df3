// Honest: tiles of 32 x 32 in shared memory with guards at the edges, and indices of 64 bits.
// evo:launch honest_tiles(X, Y, ROWS, COLS) grid(ceil_div(COLS, 32), ceil_div(ROWS, 32)) block(32, 8)
__global__ void honest_tiles(const float* X, float* Y, int rows, int columns) {
  __shared__ float tile[32][33];
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int first = blockIdx.y * 32;
  for (int i = threadIdx.y; i < 32; i += 8) {
    if (first + i < rows && column < columns) tile[i][threadIdx.x] = X[(long long)(first + i) * columns + column];
  }
  __syncthreads();
  for (int i = threadIdx.y; i < 32; i += 8) {
    const int to = blockIdx.x * 32 + i;
    if (to < columns && first + (int)threadIdx.x < rows) Y[(long long)to * rows + first + threadIdx.x] = tile[threadIdx.x][i];
  }
}
