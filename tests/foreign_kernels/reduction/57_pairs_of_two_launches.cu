// buffers: X f32 in [N], Y i32 out [1], V f32 out [1]
// sizes: N=1; N=300; N=9001
// evo:workspace part f32 [2 * 12]
// evo:launch nearest_of_blocks(X, N, part) grid(12) block(128)
// evo:launch nearest_of_all(part, 12, Y, V) grid(1) block(1)

struct Pair {
  float v;
  int i;
};

__device__ Pair better(Pair a, Pair b) { return (b.v < a.v || (b.v == a.v && b.i < a.i)) ? b : a; }

__global__ void nearest_of_blocks(const float* x, int n, Pair* part) {
  Pair p;
  p.v = INFINITY;
  p.i = n;
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
    Pair q;
    q.v = x[i];
    q.i = i;
    p = better(p, q);
  }
  for (int o = 16; o > 0; o >>= 1) {
    Pair q;
    q.v = __shfl_down_sync(~0u, p.v, o);
    q.i = __shfl_down_sync(~0u, p.i, o);
    p = better(p, q);
  }
  __shared__ Pair s[32];
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = p;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < blockDim.x / 32; ++k) p = better(p, s[k]);
    part[blockIdx.x] = p;
  }
}

__global__ void nearest_of_all(const Pair* part, int m, int* index, float* value) {
  Pair p = part[0];
  for (int k = 1; k < m; ++k) p = better(p, part[k]);
  *index = p.i;
  *value = p.v;
}
