// buffers: X f32 in [N], Y f32 out [2]
// sizes: N=1; N=1000; N=30011
// evo:workspace lows f32 [32]
// evo:workspace highs f32 [32]
// evo:launch min_max_blocks(X, lows, highs, N) grid(32) block(256)
// evo:launch min_max_final(lows, highs, Y) grid(1) block(32)

__global__ void min_max_blocks(const float *x, float *block_min, float *block_max, int n)
{
    __shared__ float lo[256];
    __shared__ float hi[256];
    int t = threadIdx.x;
    lo[t] = INFINITY;
    hi[t] = -INFINITY;
    for (int i = blockIdx.x * 256 + t; i < n; i += 256 * gridDim.x) {
        lo[t] = fminf(lo[t], x[i]);
        hi[t] = fmaxf(hi[t], x[i]);
    }
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) {
            lo[t] = fminf(lo[t], lo[t + s]);
            hi[t] = fmaxf(hi[t], hi[t + s]);
        }
        __syncthreads();
    }
    if (t == 0) {
        block_min[blockIdx.x] = lo[0];
        block_max[blockIdx.x] = hi[0];
    }
}

__global__ void min_max_final(const float *block_min, const float *block_max, float *result)
{
    float lo = block_min[threadIdx.x];
    float hi = block_max[threadIdx.x];
    for (int d = 16; d > 0; d >>= 1) {
        lo = fminf(lo, __shfl_down_sync(~0u, lo, d));
        hi = fmaxf(hi, __shfl_down_sync(~0u, hi, d));
    }
    if (threadIdx.x == 0) {
        result[0] = lo;
        result[1] = hi;
    }
}
