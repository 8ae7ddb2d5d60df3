// buffers: X u8<256 in [N], H u32 out [256]
// sizes: N=1; N=1000; N=20001
// evo:memset H 0
// evo:launch histo_kernel(X, i64(N), H) grid(24) block(256)

__global__ void histo_kernel(unsigned char *buffer, long size, unsigned int *histo) {
    // calculate the starting index and the offset to the next block that each thread will be processing
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int stride = blockDim.x * gridDim.x;
    while (i < size) {
        atomicAdd(&histo[buffer[i]], 1);
        i += stride;
    }
}
