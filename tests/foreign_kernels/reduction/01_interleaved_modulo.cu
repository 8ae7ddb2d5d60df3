// buffers: X f32 in [N], Y f32 out [1]
// sizes: N=1; N=300; N=5003
// evo:workspace partial f32 [ceil_div(N, 256)]
// evo:launch reduce_interleaved(X, partial, N) grid(ceil_div(N, 256)) block(256) shared(256 * 4)
// evo:launch finish(partial, Y, ceil_div(N, 256)) grid(1) block(1)

// First version of the ladder: neighbours first, half of the threads of each warp do nothing.
__global__ void reduce_interleaved(float *g_idata, float *g_odata, unsigned int n)
{
    extern __shared__ float sdata[];

    // each thread loads one element from global to shared memory
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    sdata[tid] = (i < n) ? g_idata[i] : 0.0f;
    __syncthreads();

    for (unsigned int s = 1; s < blockDim.x; s *= 2)
    {
        if ((tid % (2 * s)) == 0)
        {
            sdata[tid] += sdata[tid + s];
        }
        __syncthreads();
    }

    if (tid == 0)
        g_odata[blockIdx.x] = sdata[0];
}

__global__ void finish(const float *partial, float *total, int blocks)
{
    float sum = 0.0f;
    for (int b = 0; b < blocks; ++b)
        sum += partial[b];
    total[0] = sum;
}
