// Exclusive prefix sums in one launch that reads X once: each tile publishes its sum and adds up those of the tiles before it, 32
// at a time, until one knows the sum of all before it (D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled
// Look-back", 2016).
// evo:param THREADS 64 128 256 512 1024
// evo:param VECTORS 1 2 4 8
// evo:workspace states u64 [ceil_div(N, THREADS * VECTORS * 4)]
// evo:workspace ticket u32 [1]
// evo:memset states 0
// evo:memset ticket 0
// evo:launch prefix_sum_exclusive_look_back(X, Y, states, ticket, N) grid(ceil_div(N, THREADS * VECTORS * 4)) block(THREADS)

// Threads of a block.
#ifndef THREADS
#define THREADS 256
#endif

// Groups of four elements of a thread.
#ifndef VECTORS
#define VECTORS 4
#endif

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kWarps = THREADS / 32;
// The upper half of a tile's state: nothing yet, its own sum, or the sum of all elements up to its end. The lower half is that
// sum, so that one store publishes both.
constexpr unsigned kMissing = 0;
constexpr unsigned kSum = 1;
constexpr unsigned kPrefix = 2;

__device__ unsigned long long State(unsigned kind, int sum) {
  return (unsigned long long)kind << 32 | (unsigned)sum;
}

// Four elements from i on; zeros behind the end.
__device__ int4 Load(const int* X, int i, int n) {
  if (i <= n - 4) return *reinterpret_cast<const int4*>(X + i);
  return make_int4(i < n ? X[i] : 0, i < n - 1 ? X[i + 1] : 0, i < n - 2 ? X[i + 2] : 0, 0);
}

// The sum of the lanes up to this one.
__device__ int WarpScan(int value) {
  const int lane = threadIdx.x % 32;
  for (int distance = 1; distance < 32; distance *= 2) {
    const int left = __shfl_up_sync(kAllLanes, value, distance);
    if (lane >= distance) value += left;
  }
  return value;
}

// The sum of all tiles before this one, for each lane of a warp.
__device__ int TilesBefore(volatile unsigned long long* states, int tile) {
  const int lane = threadIdx.x % 32;
  int before = 0;
  for (int nearest = tile - 1;; nearest -= 32) {
    const int other = nearest - lane;
    unsigned long long state;
    do {
      state = other >= 0 ? states[other] : State(kPrefix, 0);
    } while (__any_sync(kAllLanes, state >> 32 == kMissing));
    const unsigned prefixes = __ballot_sync(kAllLanes, state >> 32 == kPrefix);
    // Tiles behind the nearest prefix count with their own sums; those before it are in the prefix.
    int sum = prefixes == 0 || lane < __ffs(prefixes) ? (int)(unsigned)state : 0;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(kAllLanes, sum, offset);
    before += sum;
    if (prefixes != 0) return before;
  }
}

__global__ void __launch_bounds__(THREADS) prefix_sum_exclusive_look_back(const int* __restrict__ X, int* __restrict__ Y,
                                                                          unsigned long long* states, unsigned* ticket, int n) {
  __shared__ int sums[kWarps];
  __shared__ int tiles_before;
  __shared__ int tile_of_block;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  // Tiles in the order in which blocks start: those that a block waits for have started before it.
  if (threadIdx.x == 0) tile_of_block = atomicAdd(ticket, 1u);
  __syncthreads();
  const int tile = tile_of_block;

  const int first = tile * (THREADS * VECTORS * 4) + warp * (VECTORS * 128) + lane * 4;
  int4 values[VECTORS];
  int sum = 0;   // of the warp's elements so far
#pragma unroll
  for (int k = 0; k < VECTORS; ++k) values[k] = Load(X, first + k * 128, n);
#pragma unroll
  for (int k = 0; k < VECTORS; ++k) {
    const int4 x = values[k];
    const int own = x.x + x.y + x.z + x.w;
    const int scanned = WarpScan(own);
    const int before = sum + scanned - own;
    values[k] = make_int4(before, before + x.x, before + x.x + x.y, before + x.x + x.y + x.z);
    sum += __shfl_sync(kAllLanes, scanned, 31);
  }
  if (lane == 0) sums[warp] = sum;
  __syncthreads();

  if (warp == 0) {
    const int total = __shfl_sync(kAllLanes, WarpScan(lane < kWarps ? sums[lane] : 0), 31);
    volatile unsigned long long* published = states;
    if (lane == 0) published[tile] = State(kSum, total);
    const int before = TilesBefore(published, tile);
    if (lane == 0) {
      published[tile] = State(kPrefix, before + total);
      tiles_before = before;
    }
  }
  __syncthreads();
  int before = tiles_before;
  for (int w = 0; w < warp; ++w) before += sums[w];
#pragma unroll
  for (int k = 0; k < VECTORS; ++k) {
    const int i = first + k * 128;
    const int4 y = make_int4(values[k].x + before, values[k].y + before, values[k].z + before, values[k].w + before);
    if (i <= n - 4) {
      *reinterpret_cast<int4*>(Y + i) = y;
    } else {
      if (i < n) Y[i] = y.x;
      if (i < n - 1) Y[i + 1] = y.y;
      if (i < n - 2) Y[i + 2] = y.z;
    }
  }
}
