// buffers: X u8<256 in [N], H u32 out [256]
// sizes: N=1; N=1000; N=9001
// evo:memset H 0
// evo:launch histo_kernel(X, N, H) grid(ceil_div(N, 256)) block(256)

__global__ void histo_kernel(const unsigned char *data, int length, unsigned int *histo)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < length)
        atomicAdd(&histo[data[i]], 1);
}
