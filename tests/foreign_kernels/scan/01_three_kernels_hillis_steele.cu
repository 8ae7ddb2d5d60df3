// buffers: X f32 in [N], Y f32 out [N]
// sizes: N=1; N=300; N=5003
// evo:workspace sums f32 [ceil_div(N, 256)]
// evo:launch scanBlocks(X, Y, sums, N) grid(ceil_div(N, 256)) block(256)
// evo:launch scanSums(sums, ceil_div(N, 256)) grid(1) block(1)
// evo:launch addSums(Y, sums, N) grid(ceil_div(N, 256)) block(256)

__global__ void scanBlocks(const float *in, float *out, float *sums, int n)
{
    __shared__ float temp[256];
    int tid = threadIdx.x;
    int i = blockIdx.x * blockDim.x + tid;
    if (i < n)
        temp[tid] = in[i];
    else
        temp[tid] = 0.0f;
    __syncthreads();

    for (int offset = 1; offset < blockDim.x; offset *= 2)
    {
        float val = 0.0f;
        if (tid >= offset)
            val = temp[tid - offset];
        __syncthreads();
        temp[tid] += val;
        __syncthreads();
    }

    if (i < n)
        out[i] = temp[tid];
    if (tid == blockDim.x - 1)
        sums[blockIdx.x] = temp[tid];
}

__global__ void scanSums(float *sums, int count)
{
    for (int i = 1; i < count; i++)
        sums[i] += sums[i - 1];
}

__global__ void addSums(float *out, const float *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x > 0 && i < n)
        out[i] += sums[blockIdx.x - 1];
}
