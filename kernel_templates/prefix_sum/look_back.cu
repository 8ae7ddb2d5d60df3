// Prefix sums in one launch that reads X once: each tile publishes its sum and looks back at those of the 32 tiles before it.
// They are always added from left to right, so that every run gives the same bits.
// evo:param THREADS 64 128 256 512 1024
// evo:param VECTORS 1 2 4 8
// evo:workspace states u64 [ceil_div(N, THREADS * VECTORS * 4)]
// evo:workspace ticket u32 [1]
// evo:memset states 0
// evo:memset ticket 0
// evo:launch prefix_sum_look_back(X, Y, states, ticket, N) grid(ceil_div(N, THREADS * VECTORS * 4)) block(THREADS)

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

__device__ unsigned long long State(unsigned kind, float sum) {
  return (unsigned long long)kind << 32 | __float_as_uint(sum);
}

// Four elements from i on; zeros behind the end.
__device__ float4 Load(const float* X, int i, int n) {
  if (i <= n - 4) return *reinterpret_cast<const float4*>(X + i);
  return make_float4(i < n ? X[i] : 0.0f, i < n - 1 ? X[i + 1] : 0.0f, i < n - 2 ? X[i + 2] : 0.0f, 0.0f);
}

// The sum of the lanes up to this one.
__device__ float WarpScan(float value) {
  const int lane = threadIdx.x % 32;
  for (int distance = 1; distance < 32; distance *= 2) {
    const float left = __shfl_up_sync(kAllLanes, value, distance);
    if (lane >= distance) value += left;
  }
  return value;
}

// The sum of all tiles before this one, for each lane of a warp.
__device__ float TilesBefore(volatile unsigned long long* states, int tile) {
  const int lane = threadIdx.x % 32;
  const int other = tile - 32 + lane;
  unsigned long long state;
  unsigned prefixes;
  int last;   // the nearest tile that knows what is before it
  do {
    state = other >= 0 ? states[other] : State(kPrefix, 0.0f);
    prefixes = __ballot_sync(kAllLanes, state >> 32 == kPrefix);
    last = 31 - __clz(prefixes);
    // Wait for a prefix, and for the sums of all tiles behind it.
  } while (prefixes == 0 || __ballot_sync(kAllLanes, lane > last && state >> 32 == kMissing) != 0);
  const float sum = __uint_as_float((unsigned)state);
  float before = __shfl_sync(kAllLanes, sum, last);
  for (int next = last + 1; next < 32; ++next) before += __shfl_sync(kAllLanes, sum, next);
  return before;
}

__global__ void __launch_bounds__(THREADS) prefix_sum_look_back(const float* __restrict__ X, float* __restrict__ Y,
                                                                unsigned long long* states, unsigned* ticket, int n) {
  __shared__ float sums[kWarps];
  __shared__ float tiles_before;
  __shared__ int tile_of_block;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  // Tiles in the order in which blocks start: those that a block waits for have started before it.
  if (threadIdx.x == 0) tile_of_block = atomicAdd(ticket, 1u);
  __syncthreads();
  const int tile = tile_of_block;

  const int first = tile * (THREADS * VECTORS * 4) + warp * (VECTORS * 128) + lane * 4;
  float4 values[VECTORS];
  float sum = 0.0f;   // of the warp's elements so far
#pragma unroll
  for (int k = 0; k < VECTORS; ++k) values[k] = Load(X, first + k * 128, n);
#pragma unroll
  for (int k = 0; k < VECTORS; ++k) {
    values[k].y += values[k].x;
    values[k].z += values[k].y;
    values[k].w += values[k].z;
    const float scanned = WarpScan(values[k].w);
    const float left = __shfl_up_sync(kAllLanes, scanned, 1);
    const float before = lane > 0 ? sum + left : sum;
    values[k].x += before;
    values[k].y += before;
    values[k].z += before;
    values[k].w += before;
    sum += __shfl_sync(kAllLanes, scanned, 31);
  }
  if (lane == 0) sums[warp] = sum;
  __syncthreads();

  if (warp == 0) {
    const float total = __shfl_sync(kAllLanes, WarpScan(lane < kWarps ? sums[lane] : 0.0f), 31);
    volatile unsigned long long* published = states;
    if (lane == 0) published[tile] = State(kSum, total);
    const float before = TilesBefore(published, tile);
    if (lane == 0) {
      published[tile] = State(kPrefix, before + total);
      tiles_before = before;
    }
  }
  __syncthreads();
  float warps_before = 0.0f;
  for (int w = 0; w < warp; ++w) warps_before += sums[w];
  const float before = tiles_before + warps_before;
#pragma unroll
  for (int k = 0; k < VECTORS; ++k) {
    const int i = first + k * 128;
    const float4 y = make_float4(values[k].x + before, values[k].y + before, values[k].z + before, values[k].w + before);
    if (i <= n - 4) {
      *reinterpret_cast<float4*>(Y + i) = y;
    } else {
      if (i < n) Y[i] = y.x;
      if (i < n - 1) Y[i + 1] = y.y;
      if (i < n - 2) Y[i + 2] = y.z;
    }
  }
}
