// buffers: X u64<1000 in [N], Y u64 out [N]
// sizes: N=1; N=300; N=5003
// evo:workspace tops u64 [ceil_div(N, 128)]
// evo:workspace peaks u64 [ceil_div(N, 16384)]
// evo:workspace root u64 [1]
// evo:launch level(X, Y, tops, N) grid(ceil_div(N, 128)) block(128)
// evo:launch level(tops, tops, peaks, ceil_div(N, 128)) grid(ceil_div(N, 16384)) block(128)
// evo:launch level(peaks, peaks, root, ceil_div(N, 16384)) grid(1) block(128)
// evo:launch carry(tops, peaks, ceil_div(N, 128)) grid(ceil_div(N, 16384)) block(128)
// evo:launch carry(Y, tops, N) grid(ceil_div(N, 128)) block(128)
typedef unsigned long long u64;

struct Plus {
  static __device__ __forceinline__ u64 zero() { return 0; }
  static __device__ __forceinline__ u64 join(u64 a, u64 b) { return a + b; }
};

__global__ void level(const u64* in, u64* out, u64* tops, int n) {
  __shared__ u64 warps[4];
  const int i = blockIdx.x * 128 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  u64 v = i < n ? in[i] : Plus::zero();
  for (int d = 1; d < 32; d *= 2) {
    const u64 left = __shfl_up_sync(0xffffffff, v, d);
    if (lane >= d) v = Plus::join(left, v);
  }
  if (lane == 31) warps[warp] = v;
  __syncthreads();
  for (int w = 0; w < warp; ++w) v = Plus::join(warps[w], v);
  if (i < n) out[i] = v;
  if (threadIdx.x == 127) tops[blockIdx.x] = v;
}

__global__ void carry(u64* out, const u64* tops, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && blockIdx.x > 0) out[i] = Plus::join(tops[blockIdx.x - 1], out[i]);
}
