// One filter of integers in constant memory, on one image with zeros around it.
// buffers: image i32<100 in [N, N], taps i32<10 in [49], res i32 out [N, N]
// sizes: N=1; N=9; N=40
#define MASK_DIM 7
#define MASK_OFFSET (MASK_DIM / 2)
__constant__ int mask[7 * 7];
// evo:constant mask = taps
// evo:launch convolution_2d(image, res, N) grid(ceil_div(N, 16), ceil_div(N, 16)) block(16, 16)
__global__ void convolution_2d(int *matrix, int *result, int N) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int start_r = row - MASK_OFFSET;
  int start_c = col - MASK_OFFSET;
  int temp = 0;
  for (int i = 0; i < MASK_DIM; i++) {
    for (int j = 0; j < MASK_DIM; j++) {
      if ((start_r + i) >= 0 && (start_r + i) < N) {
        if ((start_c + j) >= 0 && (start_c + j) < N) temp += matrix[(start_r + i) * N + (start_c + j)] * mask[i * MASK_DIM + j];
      }
    }
  }
  if (row < N && col < N) result[row * N + col] = temp;
}
