// buffers: X u8<64 in [N], H u32 out [64]
// sizes: N=1; N=1000; N=20001
// evo:memset H 0
// evo:launch sections(X, i64(N), H) grid(8) block(128)

// A thread takes neighbouring elements, as a CPU's thread would.
__global__ void sections(const unsigned char *buffer, long size, unsigned int *histo)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int section_size = (size - 1) / (blockDim.x * gridDim.x) + 1;
    int start = i * section_size;
    for (int k = 0; k < section_size; k++) {
        if (start + k < size)
            atomicAdd(&histo[buffer[start + k]], 1u);
    }
}
