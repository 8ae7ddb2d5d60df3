// buffers: X i32<50 in [N], Y i64 out [N]
// sizes: N=1; N=700; N=9003
// evo:workspace aggregates i64 [ceil_div(N, 128 * 8)]
// evo:launch reduce_tiles<int, long long, 128, 8>(X, aggregates, N) grid(ceil_div(N, 128 * 8)) block(128)
// evo:launch scan_aggregates<long long, 128>(aggregates, ceil_div(N, 128 * 8)) grid(1) block(128)
// evo:launch scan_tiles<int, long long, 128, 8>(X, aggregates, Y, N) grid(ceil_div(N, 128 * 8)) block(128)

template <typename V>
__device__ V warp_inclusive(V value, int lane) {
  for (int delta = 1; delta != 32; delta *= 2) {
    V up = __shfl_up_sync(~0u, value, delta);
    value += lane < delta ? V{} : up;
  }
  return value;
}

// Sum of what the threads of the block before this one hold; total gets the sum of all.
template <typename V, int THREADS>
__device__ V block_exclusive(V value, V& total) {
  __shared__ V sums[THREADS / 32];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const V inclusive = warp_inclusive(value, lane);
  if (lane == 31) sums[warp] = inclusive;
  __syncthreads();
  V before = V{};
  total = V{};
#pragma unroll
  for (int w = 0; w < THREADS / 32; ++w) {
    if (w == warp) before = total;
    total += sums[w];
  }
  __syncthreads();
  return before + inclusive - value;
}

template <typename T, typename V, int THREADS, int ITEMS>
__global__ void reduce_tiles(const T* __restrict__ x, V* __restrict__ aggregates, int n) {
  V sum = V{};
  for (int item = 0; item < ITEMS; ++item) {
    const int i = (blockIdx.x * ITEMS + item) * THREADS + threadIdx.x;
    if (i < n) sum += static_cast<V>(x[i]);
  }
  V total;
  block_exclusive<V, THREADS>(sum, total);
  if (threadIdx.x == 0) aggregates[blockIdx.x] = total;
}

template <typename V, int THREADS>
__global__ void scan_aggregates(V* aggregates, int tiles) {
  V running = V{};
  for (int base = 0; base < tiles; base += THREADS) {
    const int i = base + threadIdx.x;
    V value = i < tiles ? aggregates[i] : V{};
    V total;
    V before = block_exclusive<V, THREADS>(value, total);
    if (i < tiles) aggregates[i] = running + before;
    running += total;
  }
}

template <typename T, typename V, int THREADS, int ITEMS>
__global__ void scan_tiles(const T* __restrict__ x, const V* __restrict__ aggregates, V* __restrict__ y, int n) {
  V items[ITEMS];
  const int first = (blockIdx.x * THREADS + threadIdx.x) * ITEMS;
  V sum = V{};
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    items[k] = first + k < n ? static_cast<V>(x[first + k]) : V{};
    sum += items[k];
  }
  V total;
  V before = aggregates[blockIdx.x] + block_exclusive<V, THREADS>(sum, total);
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    if (first + k < n) y[first + k] = before;
    before += items[k];
  }
}
