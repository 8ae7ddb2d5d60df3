// Matrix product of 8-bit integers by tiles and __dp4a, which adds four products at once. Tiles of both matrices are in shared
// memory as words of four elements of a row, transposed, so that a thread reads its rows of a step from neighbouring words.
// evo:param TILE_M 32 64 128
// evo:param TILE_N 32 64 128
// evo:param WORDS 4 8 16
// evo:param ITEMS_M 2 4 8
// evo:param ITEMS_N 2 4 8
// evo:constraint (TILE_M / ITEMS_M) * (TILE_N / ITEMS_N) >= 64 && (TILE_M / ITEMS_M) * (TILE_N / ITEMS_N) <= 512
// evo:launch gemm_int8_dp4a(A, B, C, M, N, K) \
//   grid(ceil_div(N, TILE_N), ceil_div(M, TILE_M)) block((TILE_M / ITEMS_M) * (TILE_N / ITEMS_N))

// Rows of A and rows of B that a block takes.
#ifndef TILE_M
#define TILE_M 64
#endif

#ifndef TILE_N
#define TILE_N 64
#endif

// Words of a row that a step takes.
#ifndef WORDS
#define WORDS 8
#endif

// Rows of A and of B that a thread takes, as far apart as there are threads.
#ifndef ITEMS_M
#define ITEMS_M 4
#endif

#ifndef ITEMS_N
#define ITEMS_N 4
#endif

constexpr int kThreadsM = TILE_M / ITEMS_M;
constexpr int kThreadsN = TILE_N / ITEMS_N;
constexpr int kThreads = kThreadsM * kThreadsN;

// Four elements of a row from `first` on; zeros past the end. `aligned`: rows are a multiple of four.
__device__ __forceinline__ int LoadWord(const signed char* row, int first, int depth, bool aligned) {
  if (aligned) return first < depth ? *reinterpret_cast<const int*>(row + first) : 0;
  unsigned word = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (first + i < depth) word |= (unsigned)(unsigned char)row[first + i] << 8 * i;
  }
  return (int)word;
}

// Brings WORDS words of `tile_rows` rows.
template <int tile_rows>
__device__ __forceinline__ void Bring(int (&tile)[WORDS][tile_rows + 1], const signed char* matrix, int first_row, int rows,
                                      int first, int depth, bool aligned) {
#pragma unroll 4
  for (int i = threadIdx.x; i < tile_rows * WORDS; i += kThreads) {
    const int row = i / WORDS;
    const int word = i % WORDS;
    const bool inside = first_row + row < rows;
    const signed char* from = matrix + (long long)(inside ? first_row + row : 0) * depth;
    tile[word][row] = inside ? LoadWord(from, first + word * 4, depth, aligned) : 0;
  }
}

__global__ void __launch_bounds__(kThreads) gemm_int8_dp4a(const signed char* __restrict__ A, const signed char* __restrict__ B,
                                                           int* __restrict__ C, int rows, int columns, int depth) {
  __shared__ int tile_a[WORDS][TILE_M + 1];
  __shared__ int tile_b[WORDS][TILE_N + 1];
  const int first_row = blockIdx.y * TILE_M;
  const int first_column = blockIdx.x * TILE_N;
  const int thread_m = threadIdx.x / kThreadsN;
  const int thread_n = threadIdx.x % kThreadsN;
  const bool aligned = depth % 4 == 0;
  int sums[ITEMS_M][ITEMS_N] = {};
  for (int first = 0; first < depth; first += WORDS * 4) {
    Bring<TILE_M>(tile_a, A, first_row, rows, first, depth, aligned);
    Bring<TILE_N>(tile_b, B, first_column, columns, first, depth, aligned);
    __syncthreads();
#pragma unroll
    for (int word = 0; word < WORDS; ++word) {
      int a[ITEMS_M];
      int b[ITEMS_N];
#pragma unroll
      for (int m = 0; m < ITEMS_M; ++m) a[m] = tile_a[word][thread_m + m * kThreadsM];
#pragma unroll
      for (int n = 0; n < ITEMS_N; ++n) b[n] = tile_b[word][thread_n + n * kThreadsN];
#pragma unroll
      for (int m = 0; m < ITEMS_M; ++m) {
#pragma unroll
        for (int n = 0; n < ITEMS_N; ++n) sums[m][n] = __dp4a(a[m], b[n], sums[m][n]);
      }
    }
    __syncthreads();   // all threads are done with the tiles before the next ones replace them
  }
#pragma unroll
  for (int m = 0; m < ITEMS_M; ++m) {
    const int row = first_row + thread_m + m * kThreadsM;
#pragma unroll
    for (int n = 0; n < ITEMS_N; ++n) {
      const int column = first_column + thread_n + n * kThreadsN;
      if (row < rows && column < columns) C[(long long)row * columns + column] = sums[m][n];
    }
  }
}
