// 27-point stencil, one thread an element; neighbouring threads take neighbouring columns.
// evo:param BLOCK_X 8 16 32 64
// evo:param BLOCK_Y 2 4 8
// evo:param BLOCK_Z 2 4 8
// evo:param UNROLL 1 3
// evo:constraint BLOCK_X * BLOCK_Y * BLOCK_Z <= 1024
// evo:launch stencil_27_point_naive(X, a, Y, D, H, W) \
//   grid(ceil_div(W, BLOCK_X), ceil_div(H, BLOCK_Y), ceil_div(D, BLOCK_Z)) block(BLOCK_X, BLOCK_Y, BLOCK_Z)

// Columns, rows and planes of a block.
#ifndef BLOCK_X
#define BLOCK_X 32
#endif

#ifndef BLOCK_Y
#define BLOCK_Y 4
#endif

#ifndef BLOCK_Z
#define BLOCK_Z 2
#endif

// Planes that an iteration processes.
#ifndef UNROLL
#define UNROLL 1
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__global__ void stencil_27_point_naive(const float* X, const float* a, float* Y, int depth, int height, int width) {
  const int x = blockIdx.x * BLOCK_X + threadIdx.x;
  const int y = blockIdx.y * BLOCK_Y + threadIdx.y;
  const int z = blockIdx.z * BLOCK_Z + threadIdx.z;
  if (x >= width || y >= height || z >= depth) return;
  const long long plane = (long long)height * width;
  const long long at = z * plane + (long long)y * width + x;
  if (x == 0 || x == width - 1 || y == 0 || y == height - 1 || z == 0 || z == depth - 1) {
    Y[at] = X[at];
    return;
  }
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int k = -1; k <= 1; ++k) {
    for (int j = -1; j <= 1; ++j) {
      for (int i = -1; i <= 1; ++i) {
        sum += a[abs(i) + abs(j) + abs(k)] * X[at + k * plane + j * width + i];
      }
    }
  }
  Y[at] = sum;
}
