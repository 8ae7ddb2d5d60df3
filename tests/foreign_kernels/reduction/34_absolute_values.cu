// buffers: X f32 in [N], Y f32 out [1]
// sizes: N=1; N=1000; N=30011
// evo:workspace temp f32 [ceil_div(N, 1024)]
// evo:launch asum_stage1(X, temp, N) grid(ceil_div(N, 1024)) block(128)
// evo:launch asum_stage2(temp, Y, ceil_div(N, 1024)) grid(1) block(128)

template <int THREADS>
__device__ float blockSum(float v)
{
    __shared__ float scratch[THREADS];
    scratch[threadIdx.x] = v;
    __syncthreads();
#pragma unroll
    for (int width = THREADS / 2; width > 0; width /= 2)
    {
        if (threadIdx.x < width) scratch[threadIdx.x] += scratch[threadIdx.x + width];
        __syncthreads();
    }
    return scratch[0];
}

// L1 norm. A block adds up eight values a thread that lie beside each other.
__global__ void asum_stage1(const float *x, float *sums, int n)
{
    const int first = (blockIdx.x * 128 + threadIdx.x) * 8;
    float mine = 0.0f;
    for (int k = 0; k < 8; ++k)
        if (first + k < n) mine += fabsf(x[first + k]);
    const float all = blockSum<128>(mine);
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

__global__ void asum_stage2(const float *sums, float *norm, int count)
{
    float mine = 0.0f;
    for (int k = threadIdx.x; k < count; k += 128) mine += sums[k];
    const float all = blockSum<128>(mine);
    if (threadIdx.x == 0) *norm = all;
}
