// Sums within sections by one kernel, which another one moves by an element: only the first is a scan.
// buffers: X i32<1000 in [N], Y i32 out [N], Z i32 out [N]
// sizes: N=1; N=256; N=3001
// evo:launch sections(X, Y, N) grid(ceil_div(N, 128)) block(128)
// evo:launch moved(Y, Z, N) grid(ceil_div(N, 128)) block(128)
#define SECTION 128

__device__ int warp_sums(int v) {
  int lane = threadIdx.x % 32;
  for (int d = 1; d < 32; d *= 2) {
    int left = __shfl_up_sync(0xffffffff, v, d);
    if (lane >= d) v += left;
  }
  return v;
}

__global__ void sections(int *in, int *out, int n) {
  __shared__ int warps[32];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  int v = warp_sums(i < n ? in[i] : 0);
  if (t % 32 == 31) warps[t / 32] = v;
  __syncthreads();
  if (t < 32) {
    int s = t < SECTION / 32 ? warps[t] : 0;
    s = warp_sums(s);
    warps[t] = s;
  }
  __syncthreads();
  if (t >= 32) v += warps[t / 32 - 1];
  if (i < n) out[i] = v;
}

__global__ void moved(int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i == 0 ? 0 : in[i - 1];
}
