// buffers: X f32 in [N], Y f32 out [1]
// sizes: N=1; N=1000; N=30011
// evo:workspace A f32 [ceil_div(N, 1024)]
// evo:launch block_max(A, X, N) grid(ceil_div(N, 1024)) block(512)
// evo:launch block_max(Y, A, ceil_div(N, 1024)) grid(1) block(512)

#define THREADS_PER_BLOCK 512

__device__ float bigger(float x, float y) { return x > y ? x : y; }

/* Called by all threads of the block; the result is in shared[0]. */
__device__ void reduce_shared(float *shared)
{
    int tid = threadIdx.x;
    for (int active = THREADS_PER_BLOCK / 2; active >= 1; active >>= 1) {
        if (tid < active)
            shared[tid] = bigger(shared[tid], shared[tid + active]);
        __syncthreads();
    }
}

/* The host calls it until one value is left. */
__global__ void block_max(float *d_out, const float *d_in, int size)
{
    __shared__ float sh[THREADS_PER_BLOCK];
    int pos = blockIdx.x * THREADS_PER_BLOCK * 2 + threadIdx.x;
    int step = THREADS_PER_BLOCK * 2 * gridDim.x;
    float m = -3.402823466e+38F;
    for (; pos < size; pos += step) {
        m = bigger(m, d_in[pos]);
        if (pos + THREADS_PER_BLOCK < size) m = bigger(m, d_in[pos + THREADS_PER_BLOCK]);
    }
    sh[threadIdx.x] = m;
    __syncthreads();
    reduce_shared(sh);
    if (threadIdx.x == 0) d_out[blockIdx.x] = sh[0];
}
