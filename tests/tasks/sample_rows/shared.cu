// evo:launch reduceRows(A, out, M) grid(N) block(128) shared(128 * 4)

// One block per row, reduction in dynamic shared memory
__global__ void reduceRows(const float *g_idata, float *g_odata, unsigned int m)
{
    extern __shared__ float sdata[];
    unsigned int tid = threadIdx.x;
    const float *row = g_idata + blockIdx.x * m;

    float mySum = 0;
    for (unsigned int i = tid; i < m; i += blockDim.x)
        mySum += fabsf(row[i]);
    sdata[tid] = mySum;
    __syncthreads();

    // do reduction in shared mem
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1)
    {
        if (tid < s)
        {
            sdata[tid] += sdata[tid + s];
        }
        __syncthreads();
    }

    // write result for this block to global mem
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}
