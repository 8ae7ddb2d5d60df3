// Group norm, one block a group of an image. One pass computes the mean and the sum of squares about it: each thread has those of
// its own elements, and shuffles combine the threads. Where planes are multiples of four elements, a thread reads and writes four
// at a time.
// evo:param THREADS 32 64 128 256 512 1024
// evo:param UNROLL 1 2 4
// evo:launch group_norm_online(X, gamma, beta, Y, eps, GROUPS, PER_GROUP, H * W) grid(N * GROUPS) block(THREADS)

// Threads of a block.
#ifndef THREADS
#define THREADS 512
#endif

// Reads of a thread that are under way at a time.
#ifndef UNROLL
#define UNROLL 2
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;
constexpr unsigned kAllLanes = 0xffffffffu;

// Some elements: their number, their mean, and the sum of the squares of their differences to it.
struct Moments {
  float count;
  float mean;
  float squares;
};

__device__ Moments Combined(Moments a, Moments b) {
  const float count = a.count + b.count;
  const float share = count > 0.0f ? b.count / count : 0.0f;
  const float difference = b.mean - a.mean;
  // With no elements in a or b the product must be zero, also where the square of the difference overflows.
  const float between = difference * share * a.count * difference;
  return Moments{count, a.mean + difference * share, a.squares + b.squares + between};
}

__device__ Moments WarpMoments(Moments moments) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const float count = __shfl_xor_sync(kAllLanes, moments.count, offset);
    const float mean = __shfl_xor_sync(kAllLanes, moments.mean, offset);
    const float squares = __shfl_xor_sync(kAllLanes, moments.squares, offset);
    const Moments other{count, mean, squares};
    // In the same order in both lanes, so that they have the same bits.
    moments = threadIdx.x & offset ? Combined(other, moments) : Combined(moments, other);
  }
  return moments;
}

// Those of all threads of a block, returned to each of them.
__device__ Moments BlockMoments(Moments moments) {
  __shared__ float counts[THREADS / 32];
  __shared__ float means[THREADS / 32];
  __shared__ float squares[THREADS / 32];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  moments = WarpMoments(moments);
  if (lane == 0) {
    counts[warp] = moments.count;
    means[warp] = moments.mean;
    squares[warp] = moments.squares;
  }
  __syncthreads();
  return WarpMoments(lane < THREADS / 32 ? Moments{counts[lane], means[lane], squares[lane]} : Moments{0.0f, 0.0f, 0.0f});
}

__device__ float4 Normalised(float4 v, float mean, float factor, float term) {
  return make_float4((v.x - mean) * factor + term, (v.y - mean) * factor + term, (v.z - mean) * factor + term,
                     (v.w - mean) * factor + term);
}

__global__ void __launch_bounds__(THREADS) group_norm_online(const float* __restrict__ X, const float* __restrict__ gamma,
                                                             const float* __restrict__ beta, float* __restrict__ Y, float eps,
                                                             int groups, int channels, int pixels) {
  const int size = channels * pixels;
  const int first_channel = blockIdx.x % groups * channels;
  const float* x = X + (long long)blockIdx.x * size;
  float* y = Y + (long long)blockIdx.x * size;
  const float4* x4 = reinterpret_cast<const float4*>(x);
  const bool vectors = pixels % 4 == 0;

  Moments moments{0.0f, 0.0f, 0.0f};
  if (vectors) {
#pragma unroll kUnroll
    for (int i = threadIdx.x; i < size / 4; i += THREADS) {
      const float4 v = x4[i];
      const float mean = ((v.x + v.y) + (v.z + v.w)) * 0.25f;
      const float4 d = make_float4(v.x - mean, v.y - mean, v.z - mean, v.w - mean);
      moments = Combined(moments, Moments{4.0f, mean, (d.x * d.x + d.y * d.y) + (d.z * d.z + d.w * d.w)});
    }
  } else {
#pragma unroll kUnroll
    for (int i = threadIdx.x; i < size; i += THREADS) {
      moments = Combined(moments, Moments{1.0f, x[i], 0.0f});
    }
  }
  moments = BlockMoments(moments);
  const float mean = moments.mean;
  const float inverse = 1.0f / sqrtf(moments.squares / size + eps);

  if (vectors) {
#pragma unroll kUnroll
    for (int i = threadIdx.x; i < size / 4; i += THREADS) {
      const int c = first_channel + i / (pixels / 4);
      reinterpret_cast<float4*>(y)[i] = Normalised(x4[i], mean, inverse * gamma[c], beta[c]);
    }
  } else {
#pragma unroll kUnroll
    for (int i = threadIdx.x; i < size; i += THREADS) {
      const int c = first_channel + i / pixels;
      y[i] = (x[i] - mean) * (inverse * gamma[c]) + beta[c];
    }
  }
}
