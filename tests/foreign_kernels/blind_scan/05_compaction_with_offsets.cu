// buffers: X f32 in [N], Y f32 out [N], KEPT u32 out [1]
// sizes: N=1; N=700; N=5003
// evo:workspace flag u32 [N]
// evo:workspace where u32 [N]
// evo:workspace block u32 [ceil_div(N, 256)]
// evo:launch mark(X, flag, f32(0.0), N) grid(ceil_div(N, 256)) block(256)
// evo:launch scan_block(flag, where, block, N) grid(ceil_div(N, 256)) block(256)
// evo:launch scan_sums(block, ceil_div(N, 256), KEPT) grid(1) block(1)
// evo:launch scatter(X, flag, where, block, Y, N) grid(ceil_div(N, 256)) block(256)

typedef unsigned int u32;

// Keeps the positive elements, in their order.
__global__ void mark(const float *x, u32 *flag, float threshold, u32 n)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) flag[i] = (x[i] > threshold) ? 1u : 0u;
}

__global__ void scan_block(const u32 *flag, u32 *where, u32 *block, u32 n)
{
    __shared__ u32 tmp[256];
    u32 tid = threadIdx.x;
    u32 i = blockIdx.x * blockDim.x + tid;
    u32 own = (i < n) ? flag[i] : 0;
    tmp[tid] = own;
    __syncthreads();
    for (u32 offset = 1; offset < 256; offset <<= 1) {
        u32 add = 0;
        if (tid >= offset) add = tmp[tid - offset];
        __syncthreads();
        tmp[tid] += add;
        __syncthreads();
    }
    if (i < n) where[i] = tmp[tid] - own;
    if (tid == 255) block[blockIdx.x] = tmp[255];
}

__global__ void scan_sums(u32 *block, int blocks, u32 *kept)
{
    u32 run = 0;
    for (int b = 0; b < blocks; b++) {
        u32 here = block[b];
        block[b] = run;
        run += here;
    }
    *kept = run;
}

__global__ void scatter(const float *x, const u32 *flag, const u32 *where, const u32 *block, float *y, u32 n)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && flag[i]) y[block[blockIdx.x] + where[i]] = x[i];
}
