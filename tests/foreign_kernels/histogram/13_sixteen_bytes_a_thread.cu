// buffers: X u8<256 in [N, 16], H u32 out [256]
// sizes: N=1; N=100; N=901
// evo:memset H 0
// evo:launch byteHist(X, H, N) grid(ceil_div(N, 128)) block(128)

__global__ void byteHist(const uint4* __restrict__ src, unsigned int* __restrict__ hist, const int nvec)
{
    const int v = blockDim.x * blockIdx.x + threadIdx.x;
    if (v < nvec)
    {
        const uint4 q = src[v];
        const unsigned int words[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
        for (int w = 0; w < 4; w++)
#pragma unroll
            for (int b = 0; b < 32; b += 8)
                atomicAdd(&hist[(words[w] >> b) & 255u], 1u);
    }
}
