// Unsigned bytes four at a time by a function, sums of int.
// buffers: A u8<256 in [M, K], B u8<256 in [N, K], C i32 out [M, N]
// sizes: M=33 N=24 K=40; M=8 N=72 K=16; M=2 N=3 K=4
__device__ __forceinline__ int dot4(uchar4 a, uchar4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

// evo:launch byte_products(A, B, C, M, N, K) grid(ceil_div(N, 32), ceil_div(M, 8)) block(32, 8)
__global__ void byte_products(const unsigned char* A, const unsigned char* B, int* C, int M, int N, int K) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * blockDim.y + threadIdx.y;
  if (n >= N || m >= M) return;
  const uchar4* a = (const uchar4*)(A + m * K);
  const uchar4* b = (const uchar4*)(B + n * K);
  int sum = 0;
  for (int i = 0; i < K / 4; ++i, ++a, ++b) sum += dot4(*a, *b);
  C[m * N + n] = sum;
}
