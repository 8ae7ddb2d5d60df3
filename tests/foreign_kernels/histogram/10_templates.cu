// buffers: X u16<4096 in [N], W i32<10 in [N], H i32 out [64]
// sizes: N=1; N=1000; N=9001
// evo:memset H 0
// evo:launch weightedHistogram<unsigned short, 64>(X, W, H, N) grid(ceil_div(N, 256)) block(256)

template <typename T, int BINS>
__global__ void weightedHistogram(const T* __restrict__ keys, const int* __restrict__ weights, int* __restrict__ hist, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    int key = keys[i] % BINS;
    atomicAdd(&hist[key], weights[i]);
  }
}
