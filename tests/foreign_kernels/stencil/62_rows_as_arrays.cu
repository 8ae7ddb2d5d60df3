// Arrays of two dimensions, with the sizes as macros, and a rule by cases.
// buffers: A i32<2 in [H, W], B i32<2 out [H, W]
// sizes: H=5 W=6; H=13 W=12; H=40 W=130
// evo:size ROWS = H
// evo:size COLS = W
// evo:launch life(A, B) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)

#ifndef ROWS
#define ROWS 64
#endif

#ifndef COLS
#define COLS 48
#endif

__global__ void life(const int grid[ROWS][COLS], int (*next)[COLS]) {
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= ROWS || j >= COLS) return;
  int up = (i + ROWS - 1) % ROWS, down = (i + 1) % ROWS, left = (j + COLS - 1) % COLS, right = (j + 1) % COLS;
  int n = grid[up][left] + grid[up][j] + grid[up][right] + grid[i][left] + grid[i][right] + grid[down][left] +
          grid[down][j] + grid[down][right];
  switch (n) {
    case 2:
      next[i][j] = grid[i][j];
      break;
    case 3:
      next[i][j] = 1;
      break;
    default:
      next[i][j] = 0;
  }
}
