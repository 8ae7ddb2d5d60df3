// Cross entropy, one block a row. The sum is online, so X is read once, not twice; shuffles combine the threads. Where rows are
// multiples of four classes, a thread reads four at a time.
// evo:param THREADS 32 64 128 256 512 1024
// evo:param UNROLL 1 2 4 8
// evo:launch cross_entropy_block(X, targets, L, CLASSES) grid(ROWS) block(THREADS)

// Threads of a block.
#ifndef THREADS
#define THREADS 512
#endif

// Reads of a thread that are under way at a time.
#ifndef UNROLL
#define UNROLL 4
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;
constexpr unsigned kAllLanes = 0xffffffffu;
// Less than every logit, and finite, so that the difference of two such values is never NaN.
constexpr float kLowest = -3.0e38f;

// The largest of some logits, and the sum of the exponentials of their differences to it.
struct Part {
  float largest;
  float sum;
};

__device__ Part Combined(Part a, Part b) {
  const float largest = fmaxf(a.largest, b.largest);
  return Part{largest, a.sum * expf(a.largest - largest) + b.sum * expf(b.largest - largest)};
}

__device__ Part WarpPart(Part part) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const float largest = __shfl_xor_sync(kAllLanes, part.largest, offset);
    const float sum = __shfl_xor_sync(kAllLanes, part.sum, offset);
    part = Combined(part, Part{largest, sum});
  }
  return part;
}

__global__ void __launch_bounds__(THREADS) cross_entropy_block(const float* __restrict__ X, const int* __restrict__ targets,
                                                               float* __restrict__ L, int classes) {
  __shared__ float largest[THREADS / 32];
  __shared__ float sums[THREADS / 32];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const float* x = X + (long long)blockIdx.x * classes;

  // A thread without a class keeps kLowest and a sum of zero.
  Part part{kLowest, 0.0f};
  if (classes % 4 == 0) {
    const float4* x4 = reinterpret_cast<const float4*>(x);
#pragma unroll kUnroll
    for (int c = threadIdx.x; c < classes / 4; c += THREADS) {
      const float4 v = x4[c];
      const float next = fmaxf(part.largest, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
      const float four = (expf(v.x - next) + expf(v.y - next)) + (expf(v.z - next) + expf(v.w - next));
      part = Part{next, part.sum * expf(part.largest - next) + four};
    }
  } else {
#pragma unroll kUnroll
    for (int c = threadIdx.x; c < classes; c += THREADS) {
      const float next = fmaxf(part.largest, x[c]);
      part = Part{next, part.sum * expf(part.largest - next) + expf(x[c] - next)};
    }
  }
  part = WarpPart(part);
  if (lane == 0) {
    largest[warp] = part.largest;
    sums[warp] = part.sum;
  }
  __syncthreads();
  if (warp > 0) return;
  part = WarpPart(lane < THREADS / 32 ? Part{largest[lane], sums[lane]} : Part{kLowest, 0.0f});
  if (lane == 0) L[blockIdx.x] = logf(part.sum) - (x[targets[blockIdx.x]] - part.largest);
}
