// buffers: X f32 in [N], Y f32 out [1]
// sizes: N=1; N=1000; N=7011
// evo:workspace tops f32 [ceil_div(N, 256)]
// evo:launch find_max<256>(X, tops, i64(N)) grid(ceil_div(N, 256)) block(256)
// evo:launch max_of_blocks(tops, Y, ceil_div(N, 256)) grid(1) block(256)
#include <cfloat>
#define MAX(a, b) ((a) > (b) ? (a) : (b))

template <int BLOCK>
__global__ void find_max(const float *data, float *block_max, size_t count)
{
    __shared__ float best[BLOCK];
    const int lid = threadIdx.x;
    const size_t gid = (size_t)blockIdx.x * BLOCK + lid;
    best[lid] = gid < count ? data[gid] : -FLT_MAX;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (lid < half)
            best[lid] = MAX(best[lid], best[lid + half]);
        __syncthreads();
    }
    if (lid == 0) block_max[blockIdx.x] = best[0];
}

__global__ void max_of_blocks(const float *block_max, float *result, int blocks)
{
    __shared__ float best[256];
    float mine = -FLT_MAX;
    for (int b = threadIdx.x; b < blocks; b += 256)
        mine = MAX(mine, block_max[b]);
    best[threadIdx.x] = mine;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half)
            best[threadIdx.x] = MAX(best[threadIdx.x], best[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) *result = best[0];
}
