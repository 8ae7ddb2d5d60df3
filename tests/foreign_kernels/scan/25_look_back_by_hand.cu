// buffers: X u32<100 in [N], Y u32 out [N]
// sizes: N=1; N=300; N=5003
// evo:workspace state u64 [1 + ceil_div(N, 128)]
// evo:memset state 0
// evo:launch scan_lookback(X, Y, state, N) grid(ceil_div(N, 128)) block(128)
#define PARTIAL (1ull << 32)
#define PREFIX (2ull << 32)

// State: flags above, 32 bits of sum below. The word behind the tiles counts tickets.
__global__ void scan_lookback(const unsigned* in, unsigned* out, unsigned long long* state, unsigned n) {
  __shared__ unsigned tile, before, data[128];
  if (threadIdx.x == 0) tile = (unsigned)atomicAdd(&state[gridDim.x], 1ull);
  __syncthreads();
  const unsigned i = tile * 128 + threadIdx.x;
  unsigned v = i < n ? in[i] : 0;
  data[threadIdx.x] = v;
  __syncthreads();
  for (unsigned d = 1; d < 128; d *= 2) {
    unsigned add = threadIdx.x >= d ? data[threadIdx.x - d] : 0;
    __syncthreads();
    data[threadIdx.x] += add;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    const unsigned total = data[127];
    unsigned sum = 0;
    if (tile > 0) {
      atomicExch(&state[tile], PARTIAL | total);
      for (int t = (int)tile - 1; t >= 0;) {
        const unsigned long long s = atomicAdd(&state[t], 0ull);
        if (s < PARTIAL) continue;
        sum += (unsigned)s;
        if (s >= PREFIX) break;
        --t;
      }
    }
    atomicExch(&state[tile], PREFIX | (unsigned long long)(unsigned)(sum + total));
    before = sum;
  }
  __syncthreads();
  if (i < n) out[i] = before + data[threadIdx.x];
}
