// The smallest and the largest element, in two halves of the shared memory.
// buffers: X f32 in [N], Y f32 out [2]
// sizes: N=1; N=1000; N=5003
// evo:workspace L f32 [ceil_div(N, 256)]
// evo:workspace G f32 [ceil_div(N, 256)]
// evo:launch extremes(X, L, G, N) grid(ceil_div(N, 256)) block(256) shared(2048)
// evo:launch last_extremes(L, G, Y, ceil_div(N, 256)) grid(1) block(1)
#include <float.h>

__global__ void extremes(const float *d_in, float *d_min, float *d_max, int n)
{
    extern __shared__ float sm[];
    float *smin = sm;
    float *smax = sm + blockDim.x;
    int tid = threadIdx.x;
    int gid = blockIdx.x * blockDim.x + tid;
    smin[tid] = gid < n ? d_in[gid] : FLT_MAX;
    smax[tid] = gid < n ? d_in[gid] : -FLT_MAX;
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) {
            smin[tid] = fminf(smin[tid], smin[tid + s]);
            smax[tid] = fmaxf(smax[tid], smax[tid + s]);
        }
        __syncthreads();
    }
    if (tid == 0) {
        d_min[blockIdx.x] = smin[0];
        d_max[blockIdx.x] = smax[0];
    }
}

__global__ void last_extremes(const float *d_min, const float *d_max, float *out, int n)
{
    float lo = FLT_MAX, hi = -FLT_MAX;
    for (int i = 0; i < n; i++) {
        lo = fminf(lo, d_min[i]);
        hi = fmaxf(hi, d_max[i]);
    }
    out[0] = lo;
    out[1] = hi;
}
