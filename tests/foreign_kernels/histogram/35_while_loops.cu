// Threads clear, count and add in loops that begin where their number is declared, some statements before.
// buffers: A u32<700 in [N], H u32 out [700]
// sizes: N=1; N=999; N=20001
// evo:memset H 0
// evo:launch tally(A, H, N, 700) grid(9) block(192)

__global__ void tally(const unsigned int *values, unsigned int *totals, unsigned int count, unsigned int levels)
{
    unsigned int at = threadIdx.x + blockIdx.x * blockDim.x;
    __shared__ unsigned int met[1024];
    unsigned int level = threadIdx.x;
    int step = blockDim.x * gridDim.x;
    while (level < levels) {
        met[level] = 0;
        level += blockDim.x;
    }
    __syncthreads();
    while (at < count) {
        atomicAdd(&(met[(unsigned int)values[at]]), 1);
        at += step;
    }
    __syncthreads();
    for (unsigned int level = threadIdx.x; level < levels; level += blockDim.x) {
        atomicAdd(&(totals[level]), met[level]);
    }
}
