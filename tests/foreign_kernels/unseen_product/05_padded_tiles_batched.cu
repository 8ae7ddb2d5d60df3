// Padded tiles in shared memory, a template over the type and the size of tiles, a batch by strides; A and B both transposed.
// buffers: A f32 in [B, K, M], W f32 in [B, N, K], C f32 out [B, M, N]
// sizes: B=2 M=33 N=24 K=40; B=1 M=16 N=8 K=19; B=3 M=5 N=7 K=3
// evo:launch bmm_tt<float, 16>(A, W, C, M, N, K, i64(M * K), i64(K * N), i64(M * N)) \
//   grid(ceil_div(N, 16), ceil_div(M, 16), B) block(16, 16)
template <typename T, int TILE>
__global__ __launch_bounds__(TILE* TILE) void bmm_tt(const T* __restrict__ A, const T* __restrict__ B, T* __restrict__ C, int M,
                                                     int N, int K, size_t strideA, size_t strideB, size_t strideC) {
  __shared__ T tile_a[TILE][TILE + 1];
  __shared__ T tile_b[TILE][TILE + 1];

  A += blockIdx.z * strideA;
  B += blockIdx.z * strideB;
  C += blockIdx.z * strideC;

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty;
  const int col = blockIdx.x * TILE + tx;

  T acc = T(0);
  for (int k0 = 0; k0 < K; k0 += TILE) {
    const int rowOfA = blockIdx.y * TILE + tx, rowOfB = blockIdx.x * TILE + ty;
    tile_a[tx][ty] = (rowOfA < M && k0 + ty < K) ? A[(k0 + ty) * M + rowOfA] : T(0);
    tile_b[tx][ty] = (rowOfB < N && k0 + tx < K) ? B[rowOfB * K + k0 + tx] : T(0);
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < TILE; ++kk) acc += tile_a[ty][kk] * tile_b[kk][tx];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = acc;
}
