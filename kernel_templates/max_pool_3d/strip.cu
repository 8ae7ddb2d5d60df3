// Largest elements of windows of 3 x 3 x 3 with a stride of 2: a thread goes through a strip of STRIP layers. Two windows share a
// layer of X, which is read once.
// evo:param BLOCK 64 128 256
// evo:param STRIP 1 2 4 8
// evo:launch max_pool_3d_strip(X, Y, D, H, W, ceil_div(((H + 1) / 2) * ((W + 1) / 2), BLOCK), ceil_div((D + 1) / 2, STRIP)) \
//   grid(N * C * ceil_div(((H + 1) / 2) * ((W + 1) / 2), BLOCK) * ceil_div((D + 1) / 2, STRIP)) block(BLOCK)

// Threads of a block, each with a place of the layers of Y.
#ifndef BLOCK
#define BLOCK 128
#endif

// Layers of Y that a thread computes.
#ifndef STRIP
#define STRIP 4
#endif

// The largest of the up to 3 x 3 elements around a place of a layer; nothing where there is no such layer.
__device__ float LargestOfLayer(const float* volume, int layer, int row, int column, int depth, int height, int width) {
  if (layer < 0 || layer >= depth) return -INFINITY;
  float largest = -INFINITY;
#pragma unroll
  for (int r = 2 * row - 1; r <= 2 * row + 1; ++r) {
    if (r < 0 || r >= height) continue;
    const float* x = volume + ((long long)layer * height + r) * width + 2 * column;
    largest = fmaxf(largest, x[0]);
    if (column > 0) largest = fmaxf(largest, x[-1]);
    if (2 * column + 1 < width) largest = fmaxf(largest, x[1]);
  }
  return largest;
}

__global__ void __launch_bounds__(BLOCK) max_pool_3d_strip(const float* __restrict__ X, float* __restrict__ Y, int depth,
                                                           int height, int width, int blocks_of_layer, int strips) {
  const int layers = (depth + 1) / 2;
  const int rows = (height + 1) / 2;
  const int columns = (width + 1) / 2;
  const int place = blockIdx.x % blocks_of_layer * BLOCK + threadIdx.x;
  const int first = blockIdx.x / blocks_of_layer % strips * STRIP;
  const long long volume = blockIdx.x / blocks_of_layer / strips;
  if (place >= rows * columns) return;
  const int row = place / columns;
  const int column = place % columns;
  const float* x = X + volume * depth * height * width;
  float* y = Y + volume * layers * rows * columns + place;
  float before = LargestOfLayer(x, 2 * first - 1, row, column, depth, height, width);
#pragma unroll
  for (int k = 0; k < STRIP; ++k) {
    const int layer = first + k;
    if (layer >= layers) return;
    const float here = LargestOfLayer(x, 2 * layer, row, column, depth, height, width);
    const float behind = LargestOfLayer(x, 2 * layer + 1, row, column, depth, height, width);
    y[(long long)layer * rows * columns] = fmaxf(fmaxf(before, here), behind);
    before = behind;
  }
}
