// Honest: tiles of 16 x 16 in shared memory, with zeros beyond the edges.
// evo:launch honest_shared_tiles(A, B, C, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void honest_shared_tiles(const float* A, const float* B, float* C, int rows, int columns, int depth) {
  __shared__ float tile_a[16][17];
  __shared__ float tile_b[16][17];
  const int column = blockIdx.x * 16 + threadIdx.x;
  const int row = blockIdx.y * 16 + threadIdx.y;
  float sum = 0.0f;
  for (int first = 0; first < depth; first += 16) {
    const int k_of_a = first + threadIdx.x;
    const int k_of_b = first + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = row < rows && k_of_a < depth ? A[(long long)row * depth + k_of_a] : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] = k_of_b < depth && column < columns ? B[(long long)k_of_b * columns + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < min(16, depth - first); ++k) sum = fmaf(tile_a[threadIdx.y][k], tile_b[k][threadIdx.x], sum);
    __syncthreads();
  }
  if (row < rows && column < columns) C[(long long)row * columns + column] = sum;
}
