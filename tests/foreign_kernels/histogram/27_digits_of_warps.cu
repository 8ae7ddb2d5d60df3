// The digits of keys, with bins for each warp that are set to zero as one array.
// buffers: X u32<100000 in [N], C u32 out [16]
// sizes: N=1; N=1000; N=20001
// evo:memset C 0
// evo:launch digits(X, N, 4, C) grid(16) block(256)
#define RADIX 16
#define WARPS 8

__global__ void digits(const unsigned int *__restrict__ keys, int n, int shift, unsigned int *__restrict__ counts)
{
    __shared__ unsigned int local[WARPS][RADIX];
    int warp = threadIdx.x / 32;
    if (threadIdx.x < WARPS * RADIX) ((unsigned int *)local)[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (i < n) {
        unsigned int d = (keys[i] >> shift) & (RADIX - 1);
        atomicAdd(&local[warp][d], 1u);
        i += blockDim.x * gridDim.x;
    }
    __syncthreads();
    if (threadIdx.x < RADIX) {
        unsigned int s = 0;
        for (int w = 0; w < WARPS; w++) s += local[w][threadIdx.x];
        atomicAdd(&counts[threadIdx.x], s);
    }
}
