// The logarithm of the softmax, one block a row. The sum is online, so X is read twice, not three times; shuffles combine the
// threads. Where rows are multiples of four columns, a thread reads and writes four at a time.
// evo:param THREADS 32 64 128 256 512 1024
// evo:param UNROLL 1 2 4 8
// evo:launch log_softmax_block(X, Y, COLS) grid(ROWS) block(THREADS)

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
// Less than every input, and finite, so that the difference of two such values is never NaN.
constexpr float kLowest = -3.0e38f;

// The largest of some values, and the sum of the exponentials of their differences to it.
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

// That of all threads of a block, returned to each of them.
__device__ Part BlockPart(Part part) {
  __shared__ float largest[THREADS / 32];
  __shared__ float sums[THREADS / 32];
  const int lane = threadIdx.x % 32;
  part = WarpPart(part);
  if (lane == 0) {
    largest[threadIdx.x / 32] = part.largest;
    sums[threadIdx.x / 32] = part.sum;
  }
  __syncthreads();
  return WarpPart(lane < THREADS / 32 ? Part{largest[lane], sums[lane]} : Part{kLowest, 0.0f});
}

__global__ void __launch_bounds__(THREADS) log_softmax_block(const float* __restrict__ X, float* __restrict__ Y, int columns) {
  const float* x = X + (long long)blockIdx.x * columns;
  float* y = Y + (long long)blockIdx.x * columns;
  const float4* x4 = reinterpret_cast<const float4*>(x);
  const bool vectors = columns % 4 == 0;

  // A thread without a column keeps kLowest and a sum of zero.
  Part part{kLowest, 0.0f};
  if (vectors) {
#pragma unroll kUnroll
    for (int c = threadIdx.x; c < columns / 4; c += THREADS) {
      const float4 v = x4[c];
      const float next = fmaxf(part.largest, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
      const float four = (expf(v.x - next) + expf(v.y - next)) + (expf(v.z - next) + expf(v.w - next));
      part = Part{next, part.sum * expf(part.largest - next) + four};
    }
  } else {
#pragma unroll kUnroll
    for (int c = threadIdx.x; c < columns; c += THREADS) {
      const float next = fmaxf(part.largest, x[c]);
      part = Part{next, part.sum * expf(part.largest - next) + expf(x[c] - next)};
    }
  }
  part = BlockPart(part);
  const float largest = part.largest;
  const float logarithm = logf(part.sum);

  if (vectors) {
#pragma unroll kUnroll
    for (int c = threadIdx.x; c < columns / 4; c += THREADS) {
      const float4 v = x4[c];
      reinterpret_cast<float4*>(y)[c] = make_float4(v.x - largest - logarithm, v.y - largest - logarithm,
                                                    v.z - largest - logarithm, v.w - largest - logarithm);
    }
  } else {
#pragma unroll kUnroll
    for (int c = threadIdx.x; c < columns; c += THREADS) {
      y[c] = x[c] - largest - logarithm;
    }
  }
}
