// Index of the first largest element of each row, one block a row: each thread takes every THREADS-th column, and shuffles
// combine the threads. Of equal elements the one with the smaller index wins.
// evo:param THREADS 32 64 128 256 512 1024
// evo:param UNROLL 1 2 4 8
// evo:launch argmax_block(X, Y, COLS) grid(ROWS) block(THREADS)

// Threads of a block.
#ifndef THREADS
#define THREADS 256
#endif

// Columns of a thread that an iteration processes.
#ifndef UNROLL
#define UNROLL 4
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kNone = 0x7fffffff;

struct Element {
  float value;
  int place;
};

__device__ Element Better(Element a, Element b) {
  return b.value > a.value || (b.value == a.value && b.place < a.place) ? b : a;
}

// The best of the lanes, for each of them.
__device__ Element WarpBest(Element best) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const float value = __shfl_xor_sync(kAllLanes, best.value, offset);
    const int place = __shfl_xor_sync(kAllLanes, best.place, offset);
    best = Better(best, Element{value, place});
  }
  return best;
}

__global__ void __launch_bounds__(THREADS) argmax_block(const float* __restrict__ X, int* __restrict__ Y, int columns) {
  __shared__ float values[THREADS / 32];
  __shared__ int places[THREADS / 32];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const float* x = X + (long long)blockIdx.x * columns;
  Element best{-INFINITY, kNone};
#pragma unroll kUnroll
  for (int c = threadIdx.x; c < columns; c += THREADS) {
    best = Better(best, Element{x[c], c});
  }
  best = WarpBest(best);
  if (lane == 0) {
    values[warp] = best.value;
    places[warp] = best.place;
  }
  __syncthreads();
  if (warp > 0) return;
  best = WarpBest(lane < THREADS / 32 ? Element{values[lane], places[lane]} : Element{-INFINITY, kNone});
  if (lane == 0) Y[blockIdx.x] = best.place;
}
