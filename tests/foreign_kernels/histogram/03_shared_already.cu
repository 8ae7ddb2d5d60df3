// buffers: X u8<256 in [N], H u32 out [256]
// sizes: N=1; N=1000; N=20001
// evo:memset H 0
// evo:launch histo_shared(X, N, H) grid(24) block(256)

__global__ void histo_shared(const unsigned char *buffer, int size, unsigned int *histo) {
    __shared__ unsigned int temp[256];
    temp[threadIdx.x] = 0;
    __syncthreads();

    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int offset = blockDim.x * gridDim.x;
    while (i < size) {
        atomicAdd(&temp[buffer[i]], 1);
        i += offset;
    }
    __syncthreads();
    atomicAdd(&(histo[threadIdx.x]), temp[threadIdx.x]);
}
