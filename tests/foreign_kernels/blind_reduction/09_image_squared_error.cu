// buffers: A u8<256 in [H, W], B u8<256 in [H, W], SSE u64 out [1]
// sizes: H=1 W=1; H=20 W=31; H=65 W=130
// evo:memset SSE 0
// evo:launch squaredError(A, B, SSE, W, H) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)

#define TILE 16

__global__ void squaredError(const unsigned char* a, const unsigned char* b, unsigned long long* sse, int width, int height) {
  __shared__ unsigned int s[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int col = blockIdx.x * TILE + tx;
  int row = blockIdx.y * TILE + ty;

  int diff = 0;
  if (col < width && row < height)
    diff = (int)a[row * width + col] - (int)b[row * width + col];
  s[ty][tx] = diff * diff;
  __syncthreads();

  // columns first, then the first row
  for (int k = TILE / 2; k > 0; k /= 2) {
    if (ty < k) s[ty][tx] += s[ty + k][tx];
    __syncthreads();
  }
  for (int k = TILE / 2; k > 0; k /= 2) {
    if (ty == 0 && tx < k) s[0][tx] += s[0][tx + k];
    __syncthreads();
  }
  if (tx == 0 && ty == 0) atomicAdd(sse, (unsigned long long)s[0][0]);
}
