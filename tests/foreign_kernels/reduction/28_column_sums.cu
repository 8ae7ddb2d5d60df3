// buffers: X f32 in [R, C], Y f32 out [C]
// sizes: R=1 C=1; R=45 C=70; R=300 C=129
// evo:launch sumColumns(X, Y, R, C) grid(ceil_div(C, 32)) block(32, 8)

// Eight threads for each column, whose parts a tile of shared memory adds up.
__global__ void sumColumns(const float* matrix, float* sums, int height, int width) {
  __shared__ float tile[8][33];
  int col = blockIdx.x * 32 + threadIdx.x;
  float s = 0.0f;
  if (col < width)
    for (int row = threadIdx.y; row < height; row += 8) s += matrix[row * width + col];
  tile[threadIdx.y][threadIdx.x] = s;
  __syncthreads();
  if (threadIdx.y == 0 && col < width) {
    for (int k = 1; k < 8; ++k) s += tile[k][threadIdx.x];
    sums[col] = s;
  }
}
