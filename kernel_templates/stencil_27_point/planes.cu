// 27-point stencil, plane after plane: a block walks through PLANES planes with one of them in shared memory. Of each plane a
// thread keeps three sums, its element, the four beside it and the four at corners, which serve three results.
// evo:param BLOCK_X 16 32 64 128
// evo:param BLOCK_Y 2 4 8 16
// evo:param PLANES 2 4 8 16 32 64
// evo:constraint BLOCK_X * BLOCK_Y >= 64 && BLOCK_X * BLOCK_Y <= 1024
// evo:launch stencil_27_point_planes(X, a, Y, D, H, W) \
//   grid(ceil_div(W, BLOCK_X), ceil_div(H, BLOCK_Y), ceil_div(D, PLANES)) block(BLOCK_X, BLOCK_Y)

// Columns and rows of a block.
#ifndef BLOCK_X
#define BLOCK_X 32
#endif

#ifndef BLOCK_Y
#define BLOCK_Y 8
#endif

// Planes of Y that a block computes.
#ifndef PLANES
#define PLANES 16
#endif

struct Sums {
  float centre;
  float sides;
  float corners;
};

using Tile = float[BLOCK_Y + 2][BLOCK_X + 2];

// The sums of one plane round the thread's element; zeros for a plane outside of the grid. All threads of the block call it.
__device__ Sums PlaneSums(const float* X, int z, int depth, int height, int width, Tile& tile) {
  if (z < 0 || z >= depth) return Sums{};
  __syncthreads();   // all threads are done with the plane before
  for (int i = threadIdx.y; i < BLOCK_Y + 2; i += BLOCK_Y) {
    const int y = blockIdx.y * BLOCK_Y + i - 1;
    for (int j = threadIdx.x; j < BLOCK_X + 2; j += BLOCK_X) {
      const int x = blockIdx.x * BLOCK_X + j - 1;
      const bool inside = y >= 0 && y < height && x >= 0 && x < width;
      tile[i][j] = inside ? X[((long long)z * height + y) * width + x] : 0.0f;
    }
  }
  __syncthreads();
  const int i = threadIdx.y + 1;
  const int j = threadIdx.x + 1;
  return Sums{tile[i][j], tile[i - 1][j] + tile[i + 1][j] + tile[i][j - 1] + tile[i][j + 1],
              tile[i - 1][j - 1] + tile[i - 1][j + 1] + tile[i + 1][j - 1] + tile[i + 1][j + 1]};
}

__global__ void stencil_27_point_planes(const float* __restrict__ X, const float* __restrict__ a, float* __restrict__ Y,
                                        int depth, int height, int width) {
  __shared__ Tile tile;
  const int x = blockIdx.x * BLOCK_X + threadIdx.x;
  const int y = blockIdx.y * BLOCK_Y + threadIdx.y;
  const int first = blockIdx.z * PLANES;
  const int end = min(first + PLANES, depth);
  Sums below{};
  Sums here = PlaneSums(X, first - 1, depth, height, width, tile);
  Sums above = PlaneSums(X, first, depth, height, width, tile);
  for (int z = first; z < end; ++z) {
    below = here;
    here = above;
    above = PlaneSums(X, z + 1, depth, height, width, tile);
    if (x >= width || y >= height) continue;
    float value = here.centre;
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1 && z > 0 && z < depth - 1) {
      value = a[0] * here.centre + a[1] * (here.sides + below.centre + above.centre) +
              a[2] * (here.corners + below.sides + above.sides) + a[3] * (below.corners + above.corners);
    }
    Y[((long long)z * height + y) * width + x] = value;
  }
}
