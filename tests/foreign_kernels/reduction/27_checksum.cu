// buffers: X u32<1000000 in [N], Y u32 out [1]
// sizes: N=1; N=1000; N=30011
// evo:memset Y 0
// evo:launch checksum(X, Y, N) grid(ceil_div(N, 1024)) block(256)

#define PER_THREAD 4

__global__ void checksum(const unsigned *words, unsigned *sum, unsigned n)
{
    __shared__ unsigned part[256];
    unsigned x = 0;
    unsigned first = blockIdx.x * 256 * PER_THREAD + threadIdx.x;
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++)
        if (first + k * 256 < n) x ^= words[first + k * 256];
    part[threadIdx.x] = x;
    __syncthreads();
    for (unsigned half = 128; half > 0; half >>= 1)
    {
        if (threadIdx.x < half) part[threadIdx.x] = part[threadIdx.x] ^ part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicXor(sum, part[0]);
}
