// buffers: X f32 in [N], WHERE i32 out [1], WHAT f32 out [1]
// sizes: N=1; N=1000; N=30011
// evo:workspace best f32 [40]
// evo:workspace at i32 [40]
// evo:launch amax_blocks(X, N, best, at) grid(40) block(128)
// evo:launch amax_last(best, at, 40, WHERE, WHAT) grid(1) block(64)

#define BLOCK 128
#define LAST 64

struct Pair {
  float value;
  int index;
};

__device__ inline Pair better(const Pair& a, const Pair& b) {
  if (a.value > b.value) return a;
  if (b.value > a.value) return b;
  return a.index < b.index ? a : b;
}

__global__ void amax_blocks(const float* __restrict__ x, int n, float* best, int* at) {
  __shared__ Pair tree[BLOCK];
  Pair mine = {-1.0f, 0x7fffffff};
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += BLOCK * gridDim.x) {
    Pair candidate = {fabsf(x[i]), i};
    mine = better(mine, candidate);
  }
  tree[threadIdx.x] = mine;
  __syncthreads();
  for (int half = BLOCK >> 1; half; half >>= 1) {
    if (threadIdx.x < half) tree[threadIdx.x] = better(tree[threadIdx.x], tree[threadIdx.x + half]);
    __syncthreads();
  }
  if (!threadIdx.x) {
    best[blockIdx.x] = tree[0].value;
    at[blockIdx.x] = tree[0].index;
  }
}

__global__ void amax_last(const float* best, const int* at, int count, int* where, float* what) {
  __shared__ Pair tree[LAST];
  Pair mine = {-1.0f, 0x7fffffff};
  for (int i = threadIdx.x; i < count; i += LAST) {
    Pair candidate = {best[i], at[i]};
    mine = better(mine, candidate);
  }
  tree[threadIdx.x] = mine;
  __syncthreads();
  for (int half = LAST >> 1; half; half >>= 1) {
    if (threadIdx.x < half) tree[threadIdx.x] = better(tree[threadIdx.x], tree[threadIdx.x + half]);
    __syncthreads();
  }
  if (!threadIdx.x) {
    where[0] = tree[0].index;
    what[0] = tree[0].value;
  }
}
