// Matrix product by tiles: a block computes TILE_M x TILE_N elements of C, a thread ITEMS_M x ITEMS_N of them in registers.
// An operand goes through shared memory, or the threads that share it read it from global memory by way of L1.
// evo:param TILE_M 32 64 128
// evo:param TILE_N 32 64 128
// evo:param TILE_K 8 16 32
// evo:param ITEMS_M 2 4 8
// evo:param ITEMS_N 2 4 8
// evo:param VECTOR 1 2 4
// evo:param SHARED_A 0 1
// evo:param SHARED_B 0 1
// evo:param PAD 0 4
// evo:param DOUBLE_BUFFER 0 1
// evo:param UNROLL_K 2 8
// evo:constraint ITEMS_M % VECTOR == 0 && ITEMS_N % VECTOR == 0
// evo:constraint ITEMS_M * ITEMS_N >= 8
// evo:constraint (TILE_M / ITEMS_M) * (TILE_N / ITEMS_N) >= 64 && (TILE_M / ITEMS_M) * (TILE_N / ITEMS_N) <= 512
// evo:constraint SHARED_A == 0 || TILE_M * TILE_K % ((TILE_M / ITEMS_M) * (TILE_N / ITEMS_N) * VECTOR) == 0
// evo:constraint SHARED_B == 0 || TILE_K * TILE_N % ((TILE_M / ITEMS_M) * (TILE_N / ITEMS_N) * VECTOR) == 0
// evo:constraint SHARED_A + SHARED_B >= 1 || TILE_K == 8
// evo:constraint DOUBLE_BUFFER <= SHARED_A * SHARED_B
// evo:constraint PAD == 0 || SHARED_A == 1
// evo:constraint (1 + DOUBLE_BUFFER) * TILE_K * (SHARED_A * (TILE_M + PAD) + SHARED_B * TILE_N) * 4 <= 49152
// evo:constraint (SHARED_A * TILE_M + SHARED_B * TILE_N) * TILE_K <= 24 * (TILE_M / ITEMS_M) * (TILE_N / ITEMS_N)
// evo:launch gemm_tiled(A, B, C, M, N, K) \
//   grid(ceil_div(N, TILE_N), ceil_div(M, TILE_M)) block((TILE_M / ITEMS_M) * (TILE_N / ITEMS_N))

// Rows and columns of C that a block computes, and the depth of a step.
#ifndef TILE_M
#define TILE_M 64
#endif

#ifndef TILE_N
#define TILE_N 64
#endif

#ifndef TILE_K
#define TILE_K 16
#endif

// Rows and columns of C that a thread computes.
#ifndef ITEMS_M
#define ITEMS_M 4
#endif

#ifndef ITEMS_N
#define ITEMS_N 4
#endif

// Neighbouring floats that one access moves.
#ifndef VECTOR
#define VECTOR 1
#endif

// Whether an operand's tile goes through shared memory.
#ifndef SHARED_A
#define SHARED_A 1
#endif

#ifndef SHARED_B
#define SHARED_B 1
#endif

// Floats between the columns of A's tile, so that storing it transposed has fewer bank conflicts.
#ifndef PAD
#define PAD 0
#endif

// Whether the next tile is stored while the current one is used.
#ifndef DOUBLE_BUFFER
#define DOUBLE_BUFFER 0
#endif

// Steps of the depth that an iteration processes.
#ifndef UNROLL_K
#define UNROLL_K 8
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL_K;
constexpr int kThreadsM = TILE_M / ITEMS_M;
constexpr int kThreadsN = TILE_N / ITEMS_N;
constexpr int kThreads = kThreadsM * kThreadsN;
constexpr int kBuffers = 1 + DOUBLE_BUFFER;
// A tile of A lies transposed: TILE_K columns of kStrideA floats.
constexpr int kStrideA = TILE_M + PAD;
constexpr int kFloatsA = SHARED_A ? TILE_K * kStrideA : VECTOR;
constexpr int kFloatsB = SHARED_B ? TILE_K * TILE_N : VECTOR;
// Vectors that a thread brings of each tile.
constexpr int kBringA = SHARED_A ? TILE_M * TILE_K / (kThreads * VECTOR) : 1;
constexpr int kBringB = SHARED_B ? TILE_K * TILE_N / (kThreads * VECTOR) : 1;

struct alignas(4 * VECTOR) Floats {
  float at[VECTOR];
};

// A matrix from some element on, and the distance between rows.
struct View {
  const float* data;
  int stride;
};

__device__ __forceinline__ Floats Load(const View& view, int row, int column) {
  return *reinterpret_cast<const Floats*>(view.data + (long long)row * view.stride + column);
}

// Row or column in the tile of a thread's item. Neighbouring threads have neighbouring vectors.
__device__ __forceinline__ int Place(int thread, int threads, int item) {
  return (item / VECTOR * threads + thread) * VECTOR + item % VECTOR;
}

// The thread's share of the next tiles, on its way from global to shared memory.
struct Brought {
  Floats a[kBringA];
  Floats b[kBringB];
};

__device__ __forceinline__ void Bring(const View& a, const View& b, Brought& next) {
  if constexpr (SHARED_A) {
#pragma unroll
    for (int i = 0; i < kBringA; ++i) {
      const int vector = threadIdx.x + i * kThreads;
      next.a[i] = Load(a, vector / (TILE_K / VECTOR), vector % (TILE_K / VECTOR) * VECTOR);
    }
  }
  if constexpr (SHARED_B) {
#pragma unroll
    for (int i = 0; i < kBringB; ++i) {
      const int vector = threadIdx.x + i * kThreads;
      next.b[i] = Load(b, vector / (TILE_N / VECTOR), vector % (TILE_N / VECTOR) * VECTOR);
    }
  }
}

__device__ __forceinline__ void Put(const Brought& next, float* tile_a, float* tile_b) {
  if constexpr (SHARED_A) {
#pragma unroll
    for (int i = 0; i < kBringA; ++i) {
      const int vector = threadIdx.x + i * kThreads;
      const int row = vector / (TILE_K / VECTOR);
      const int k = vector % (TILE_K / VECTOR) * VECTOR;
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) tile_a[(k + v) * kStrideA + row] = next.a[i].at[v];
    }
  }
  if constexpr (SHARED_B) {
#pragma unroll
    for (int i = 0; i < kBringB; ++i) {
      const int vector = threadIdx.x + i * kThreads;
      *reinterpret_cast<Floats*>(tile_b + vector * VECTOR) = next.b[i];
    }
  }
}

// Adds the product of column k of a tile of A and row k of a tile of B.
__device__ __forceinline__ void Step(const View& a, const View& b, const float* tile_a, const float* tile_b, int k, float (&sums)[ITEMS_M][ITEMS_N]) {
  const int thread_m = threadIdx.x / kThreadsN;
  const int thread_n = threadIdx.x % kThreadsN;
  float from_a[ITEMS_M];
  float from_b[ITEMS_N];
#pragma unroll
  for (int i = 0; i < ITEMS_M; i += VECTOR) {
    const int row = Place(thread_m, kThreadsM, i);
    Floats values;
    if constexpr (SHARED_A) {
      values = *reinterpret_cast<const Floats*>(tile_a + k * kStrideA + row);
    } else {
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) values.at[v] = a.data[(long long)(row + v) * a.stride + k];
    }
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) from_a[i + v] = values.at[v];
  }
#pragma unroll
  for (int j = 0; j < ITEMS_N; j += VECTOR) {
    const int column = Place(thread_n, kThreadsN, j);
    Floats values;
    if constexpr (SHARED_B) {
      values = *reinterpret_cast<const Floats*>(tile_b + k * TILE_N + column);
    } else {
      values = Load(b, k, column);
    }
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) from_b[j + v] = values.at[v];
  }
#pragma unroll
  for (int i = 0; i < ITEMS_M; ++i) {
#pragma unroll
    for (int j = 0; j < ITEMS_N; ++j) sums[i][j] += from_a[i] * from_b[j];
  }
}

// The block's tile of C, all of it within the matrix. `a` begins at its first row, `b` at its first column, `out` at its first element.
__device__ __forceinline__ void Tile(View a, View b, int depth, float* out, float* shared_a, float* shared_b) {
  const int thread_m = threadIdx.x / kThreadsN;
  const int thread_n = threadIdx.x % kThreadsN;
  float sums[ITEMS_M][ITEMS_N] = {};
  Brought next;
  if (depth >= TILE_K) {
    Bring(a, b, next);
    Put(next, shared_a, shared_b);
    __syncthreads();
  }
  int buffer = 0;
  int left = depth;
  for (; left >= TILE_K; left -= TILE_K) {
    const View this_a = a;
    const View this_b = b;
    a.data += TILE_K;
    b.data += (long long)TILE_K * b.stride;
    const bool more = left >= 2 * TILE_K;
    if (more) Bring(a, b, next);
#pragma unroll kUnroll
    for (int k = 0; k < TILE_K; ++k) Step(this_a, this_b, shared_a + buffer * kFloatsA, shared_b + buffer * kFloatsB, k, sums);
    if constexpr (DOUBLE_BUFFER) {
      buffer ^= 1;
    } else {
      __syncthreads();   // all threads are done with the tiles before the next ones replace them
    }
    if (more) Put(next, shared_a + buffer * kFloatsA, shared_b + buffer * kFloatsB);
    __syncthreads();
  }
  // The rest of the depth.
#pragma unroll 1
  for (int k = 0; k < left; ++k) {
#pragma unroll
    for (int i = 0; i < ITEMS_M; ++i) {
      const float from_a = a.data[(long long)Place(thread_m, kThreadsM, i) * a.stride + k];
#pragma unroll
      for (int j = 0; j < ITEMS_N; ++j) sums[i][j] += from_a * b.data[(long long)k * b.stride + Place(thread_n, kThreadsN, j)];
    }
  }
#pragma unroll
  for (int i = 0; i < ITEMS_M; ++i) {
    float* to = out + (long long)Place(thread_m, kThreadsM, i) * b.stride;
#pragma unroll
    for (int j = 0; j < ITEMS_N; j += VECTOR) {
      Floats values;
#pragma unroll
      for (int v = 0; v < VECTOR; ++v) values.at[v] = sums[i][j + v];
      *reinterpret_cast<Floats*>(to + Place(thread_n, kThreadsN, j)) = values;
    }
  }
}

// The same for a tile at the matrix's edge, or for a matrix whose rows are not aligned for vectors (VECTOR 1 takes any), element by element,
// because compiling another fast path would take as long as the first.
__device__ __forceinline__ void EdgeTile(const View& a, const View& b, int depth, float* out, int rows, int columns) {
#pragma unroll 1
  for (int i = threadIdx.x; i < TILE_M * TILE_N; i += kThreads) {
    const int row = i / TILE_N;
    const int column = i % TILE_N;
    if (row >= rows || column >= columns) continue;
    const float* from = a.data + (long long)row * a.stride;
    float sum = 0.0f;
#pragma unroll 8
    for (int k = 0; k < depth; ++k) sum += from[k] * b.data[(long long)k * b.stride + column];
    out[(long long)row * b.stride + column] = sum;
  }
}

__global__ void __launch_bounds__(kThreads) gemm_tiled(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                                                       int rows, int columns, int depth) {
  __shared__ Floats shared_a[kBuffers * kFloatsA / VECTOR];
  __shared__ Floats shared_b[kBuffers * kFloatsB / VECTOR];
  const int row = blockIdx.y * TILE_M;
  const int column = blockIdx.x * TILE_N;
  const View a{A + (long long)row * depth, depth};
  const View b{B + column, columns};
  float* out = C + (long long)row * columns + column;
  // Rows must also be aligned for vectors.
  const bool whole = rows - row >= TILE_M && columns - column >= TILE_N && depth % VECTOR == 0 && columns % VECTOR == 0;
  if (whole) {
    Tile(a, b, depth, out, reinterpret_cast<float*>(shared_a), reinterpret_cast<float*>(shared_b));
  } else {
    EdgeTile(a, b, depth, out, rows - row, columns - column);
  }
}
