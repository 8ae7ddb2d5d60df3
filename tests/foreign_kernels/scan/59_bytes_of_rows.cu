// Sums of each row's bytes, and then of their columns.
// buffers: A u8<256 in [H, W], S u32 out [H, W]
// sizes: H=1 W=1; H=3 W=37; H=2 W=700
// evo:launch along(A, S, W) grid(H) block(32) shared(128)
// evo:launch down(S, W, H) grid(ceil_div(W, 64)) block(64)

__global__ void along(const unsigned char* a, unsigned* s, int width) {
  extern __shared__ unsigned of_piece[];
  const int row = blockIdx.x * width;
  const int piece = (width + blockDim.x - 1) / blockDim.x;
  int begin = threadIdx.x * piece, end = begin + piece;
  if (begin > width) begin = width;
  if (end > width) end = width;
  unsigned sum = 0;
  for (int x = begin; x < end; ++x) sum += a[row + x];
  of_piece[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned before = 0;
    for (int i = 0; i < blockDim.x; ++i) {
      const unsigned own = of_piece[i];
      of_piece[i] = before;
      before += own;
    }
  }
  __syncthreads();
  sum = of_piece[threadIdx.x];
  for (int x = begin; x < end; ++x) {
    sum += a[row + x];
    s[row + x] = sum;
  }
}

__global__ void down(unsigned* s, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  unsigned sum = 0;
  for (int y = 0; y < height; ++y) {
    sum += s[y * width + x];
    s[y * width + x] = sum;
  }
}
