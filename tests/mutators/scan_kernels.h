#pragma once

namespace evo {

// Prefix sums as students write them, for the tasks prefix_sum (floats, each with its own element) and prefix_sum_exclusive
// (integers, without it).

// Up-sweep and down-sweep in shared memory, two elements a thread; one thread scans the sums of the blocks.
inline constexpr char kSweeps[] = R"(
// evo:workspace totals i32 [ceil_div(N, 128)]
// evo:launch sweep(X, Y, totals, N) grid(ceil_div(N, 128)) block(64) shared(128 * 4)
// evo:launch serial(totals, ceil_div(N, 128)) grid(1) block(1)
// evo:launch addTotals(Y, totals, N) grid(ceil_div(N, 128)) block(128)
__global__ void sweep(const int *in, int *out, int *totals, int n)
{
    extern __shared__ int temp[];
    int thid = threadIdx.x;
    int base = blockIdx.x * 2 * blockDim.x;
    int offset = 1;
    temp[2 * thid] = base + 2 * thid < n ? in[base + 2 * thid] : 0;
    temp[2 * thid + 1] = base + 2 * thid + 1 < n ? in[base + 2 * thid + 1] : 0;
    for (int d = blockDim.x; d > 0; d >>= 1) {
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            temp[bi] += temp[ai];
        }
        offset *= 2;
    }
    if (thid == 0) {
        totals[blockIdx.x] = temp[2 * blockDim.x - 1];
        temp[2 * blockDim.x - 1] = 0;
    }
    for (int d = 1; d < 2 * blockDim.x; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            int t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }
    __syncthreads();
    if (base + 2 * thid < n) out[base + 2 * thid] = temp[2 * thid];
    if (base + 2 * thid + 1 < n) out[base + 2 * thid + 1] = temp[2 * thid + 1];
}

__global__ void serial(int *totals, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++) {
        int t = totals[i];
        totals[i] = sum;
        sum += t;
    }
}

__global__ void addTotals(int *out, const int *totals, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] += totals[blockIdx.x];
}
)";

// Shuffles within warps; a block adds up by itself what is before it.
inline constexpr char kShuffles[] = R"(
// evo:workspace partial f32 [ceil_div(N, 256)]
// evo:launch scan_blocks(X, Y, partial, N) grid(ceil_div(N, 256)) block(256)
// evo:launch add_offset(partial, Y, N) grid(ceil_div(N, 256)) block(256)
__device__ float warp_scan(float v) {
  int lane = threadIdx.x & 31;
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    float up = __shfl_up_sync(0xffffffff, v, d);
    if (lane >= d) v += up;
  }
  return v;
}

__device__ void block_scan(float &v, float &total, float *warps) {
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  v = warp_scan(v);
  if (lane == 31) warps[warp] = v;
  __syncthreads();
  if (warp == 0) {
    float w = lane < blockDim.x / 32 ? warps[lane] : 0.f;
    w = warp_scan(w);
    if (lane < blockDim.x / 32) warps[lane] = w;
  }
  __syncthreads();
  if (warp > 0) v += warps[warp - 1];
  total = warps[blockDim.x / 32 - 1];
}

__global__ void scan_blocks(const float* __restrict__ x, float* __restrict__ y, float* __restrict__ partial, int n) {
  __shared__ float warps[32];
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? __ldg(x + i) : 0.f, total;
  block_scan(v, total, warps);
  if (i < n) y[i] = v;
  if (threadIdx.x == 0) partial[blockIdx.x] = total;
}

__global__ void add_offset(const float* partial, float* y, int n) {
  __shared__ float offset;
  if (threadIdx.x == 0) {
    float sum = 0.f;
    for (int b = 0; b < blockIdx.x; ++b) sum += partial[b];
    offset = sum;
  }
  __syncthreads();
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += offset;
}
)";

// One thread.
inline constexpr char kSerial[] = R"(
// evo:launch running(X, Y, N) grid(1) block(1)
__global__ void running(const float *x, float *y, int n) {
  y[0] = x[0];
  for (int i = 1; i < n; ++i) y[i] = y[i - 1] + x[i];
}
)";

// A block scans all, part after part, in two rows of shared memory that change their roles.
inline constexpr char kTwoRows[] = R"(
// evo:size COUNT = N
// evo:param WIDTH 64 128 256
// evo:launch rows(X, Y) grid(1) block(WIDTH)
#ifndef COUNT
#define COUNT 1000
#endif
#ifndef WIDTH
#define WIDTH 128
#endif
__global__ void rows(const float* a, float* b) {
  __shared__ float row[2][WIDTH];
  __shared__ float carry;
  const int t = threadIdx.x;
  if (t == 0) carry = 0.0f;
  int begin = 0;
  while (begin < COUNT) {
    int from = 0;
    row[from][t] = begin + t < COUNT ? a[begin + t] : 0.0f;
    for (int d = 1; d < WIDTH; d <<= 1) {
      __syncthreads();
      if (t >= d)
        row[1 - from][t] = row[from][t] + row[from][t - d];
      else
        row[1 - from][t] = row[from][t];
      from = 1 - from;
    }
    __syncthreads();
    if (begin + t < COUNT) b[begin + t] = carry + row[from][t];
    __syncthreads();
    if (t == WIDTH - 1) carry += row[from][t];
    begin += WIDTH;
  }
}
)";

// Four elements a thread in registers, one launch that adds up the parts, each element read twice.
inline constexpr char kReadTwice[] = R"(
// evo:workspace part i32 [ceil_div(N, 512) + 1]
// evo:launch sums(X, part, N) grid(ceil_div(N, 512)) block(128)
// evo:launch before(part, ceil_div(N, 512)) grid(1) block(32)
// evo:launch write(X, part, Y, N) grid(ceil_div(N, 512)) block(128)
__global__ void sums(const int* x, int* part, int n) {
  __shared__ int s[128];
  int at = blockIdx.x * 512 + threadIdx.x * 4, sum = 0;
  for (int k = 0; k < 4; ++k) {
    if (at + k >= n) break;
    sum += x[at + k];
  }
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) part[blockIdx.x + 1] = s[0];
}
__global__ void before(int* part, int count) {
  if (threadIdx.x > 0) return;
  part[0] = 0;
  for (int i = 1; i < count; ++i) part[i] = part[i] + part[i - 1];
}
__global__ void write(const int* x, const int* part, int* y, int n) {
  __shared__ int s[128];
  int own[4], sum = 0;
  const int at = blockIdx.x * 512 + threadIdx.x * 4;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    own[k] = sum;
    sum += at + k < n ? x[at + k] : 0;
  }
  s[threadIdx.x] = sum;
  __syncthreads();
  int left = part[blockIdx.x];
  for (int t = 0; t < threadIdx.x; ++t) left += s[t];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (at + k < n) y[at + k] = left + own[k];
}
)";

}  // namespace evo
