// Each cell is stored by an exchange; a block is a row.
// buffers: A i32<2 in [H, W], B i32<2 inout [H, W]
// sizes: H=1 W=1; H=13 W=12; H=40 W=130
// evo:launch update(A, B, H, W) grid(H) block(W)

__global__ void update(int *board, int *result, int rows, int columns) {
  int index = threadIdx.x + blockIdx.x * blockDim.x;
  int j = threadIdx.x, i = blockIdx.x;
  if (i >= 1 && i <= rows - 2 && j >= 1 && j <= columns - 2) {
    int n = board[(i - 1) * columns + j + 1] + board[(i + 1) * columns + j + 1] + board[(i + 1) * columns + j - 1] +
            board[i * columns + j + 1] + board[i * columns + j - 1] + board[(i + 1) * columns + j] +
            board[(i - 1) * columns + j] + board[(i - 1) * columns + j - 1];
    if (board[index])
      atomicExch(&result[index], n == 2 || n == 3);
    else
      atomicExch(&result[index], n == 3);
  }
}
