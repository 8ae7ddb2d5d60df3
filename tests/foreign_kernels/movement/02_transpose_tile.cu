// buffers: A f32 in [H, W], B f32 out [W, H]
// sizes: H=1 W=1; H=13 W=12; H=40 W=130
// evo:launch transpose_tiled<float>(A, B, H, W) grid(ceil_div(W, 32), ceil_div(H, 32)) block(32, 8)
#define TILE 32
#define ROWS 8

template <typename T>
__global__ void transpose_tiled(const T* __restrict__ in, T* __restrict__ out, unsigned rows, unsigned cols) {
  __shared__ T tile[TILE][TILE];
  unsigned x = blockIdx.x * TILE + threadIdx.x;
  unsigned y = blockIdx.y * TILE + threadIdx.y;
  for (unsigned j = 0; j < TILE; j += ROWS)
    if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * cols + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  for (unsigned j = 0; j < TILE; j += ROWS)
    if (x < rows && y + j < cols) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}
