// Prefix sums in three launches: sums of tiles, a scan of these sums, a scan of each tile. X is read twice, Y written once.
// A lane has four neighbouring elements, and shuffles scan the lanes of a warp.
// evo:param THREADS 64 128 256 512 1024
// evo:param VECTORS 1 2 4 8
// evo:constraint THREADS * VECTORS <= 4096
// evo:workspace sums f32 [ceil_div(N, THREADS * VECTORS * 4)]
// evo:launch prefix_sum_tiles(X, sums, N) grid(ceil_div(N, THREADS * VECTORS * 4)) block(THREADS)
// evo:launch prefix_sum_sums(sums, ceil_div(N, THREADS * VECTORS * 4)) grid(1) block(THREADS)
// evo:launch prefix_sum_scan(X, sums, Y, N) grid(ceil_div(N, THREADS * VECTORS * 4)) block(THREADS)

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
constexpr int kTile = THREADS * VECTORS * 4;

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

// The sum of the warps before this one, and in `total` that of all, from each warp's sum.
__device__ float WarpsBefore(float sum, float* sums, float& total) {
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  float before = 0.0f;
  total = 0.0f;
  for (int warp = 0; warp < kWarps; ++warp) {
    if (warp == int(threadIdx.x / 32)) before = total;
    total += sums[warp];
  }
  __syncthreads();   // all threads have read the sums before others replace them
  return before;
}

__global__ void __launch_bounds__(THREADS) prefix_sum_tiles(const float* __restrict__ X, float* __restrict__ sums, int n) {
  __shared__ float shared[kWarps];
  const int first = blockIdx.x * kTile + threadIdx.x / 32 * (VECTORS * 128) + threadIdx.x % 32 * 4;
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < VECTORS; ++k) {
    const float4 x = Load(X, first + k * 128, n);
    sum += (x.x + x.y) + (x.z + x.w);
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(kAllLanes, sum, offset);
  float total;
  WarpsBefore(sum, shared, total);
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

// Each sum becomes the sum of those before it.
__global__ void __launch_bounds__(THREADS) prefix_sum_sums(float* sums, int count) {
  __shared__ float shared[kWarps];
  const int lane = threadIdx.x % 32;
  float before = 0.0f;
  for (int first = 0; first < count; first += THREADS) {
    const int i = first + threadIdx.x;
    const float scanned = WarpScan(i < count ? sums[i] : 0.0f);
    const float left = __shfl_up_sync(kAllLanes, scanned, 1);
    float total;
    const float warps = WarpsBefore(__shfl_sync(kAllLanes, scanned, 31), shared, total);
    if (i < count) sums[i] = before + (warps + (lane > 0 ? left : 0.0f));
    before += total;
  }
}

__global__ void __launch_bounds__(THREADS) prefix_sum_scan(const float* __restrict__ X, const float* __restrict__ sums,
                                                           float* __restrict__ Y, int n) {
  __shared__ float shared[kWarps];
  const int lane = threadIdx.x % 32;
  const int first = blockIdx.x * kTile + threadIdx.x / 32 * (VECTORS * 128) + lane * 4;
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
  float total;
  const float before = sums[blockIdx.x] + WarpsBefore(sum, shared, total);
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
