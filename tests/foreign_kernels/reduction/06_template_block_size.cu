// buffers: X i32<500 in [N], Y i32 out [1]
// sizes: N=1; N=1000; N=30011
// evo:workspace part i32 [16]
// evo:launch reduce6<256>(X, part, N) grid(16) block(256) shared(256 * 4)
// evo:launch reduce6<32>(part, Y, 16) grid(1) block(32) shared(32 * 4)

// Completely unrolled, with several elements a thread.
template <unsigned int blockSize>
__global__ void reduce6(const int *g_idata, int *g_odata, unsigned int n)
{
    extern __shared__ int sdata[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockSize + tid;
    unsigned int gridSize = blockSize * gridDim.x;

    int sum = 0;
    while (i < n)
    {
        sum += g_idata[i];
        i += gridSize;
    }
    sdata[tid] = sum;
    __syncthreads();

    if (blockSize >= 512) { if (tid < 256) { sdata[tid] += sdata[tid + 256]; } __syncthreads(); }
    if (blockSize >= 256) { if (tid < 128) { sdata[tid] += sdata[tid + 128]; } __syncthreads(); }
    if (blockSize >= 128) { if (tid < 64) { sdata[tid] += sdata[tid + 64]; } __syncthreads(); }
    if (blockSize >= 64) { if (tid < 32) { sdata[tid] += sdata[tid + 32]; } __syncthreads(); }
    if (tid < 16) sdata[tid] += sdata[tid + 16];
    __syncthreads();
    if (tid < 8) sdata[tid] += sdata[tid + 8];
    __syncthreads();
    if (tid < 4) sdata[tid] += sdata[tid + 4];
    __syncthreads();
    if (tid < 2) sdata[tid] += sdata[tid + 2];
    __syncthreads();
    if (tid == 0) g_odata[blockIdx.x] = sdata[0] + sdata[1];
}
