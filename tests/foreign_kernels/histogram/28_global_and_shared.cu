// Two kernels that count into the same bins, one of them in shared memory first.
// buffers: X i32<64 in [N], Z i32<64 in [N], H i32 out [64]
// sizes: N=64; N=1024; N=20032
// evo:memset H 0
// evo:launch by_global(X, H, N) grid(ceil_div(N, 256)) block(256)
// evo:launch by_shared(Z, H) grid(N / 64) block(64)

__global__ void by_global(int *data, int *hist, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&hist[data[i]], 1);
    }
}

__global__ void by_shared(int *data, int *hist) {
    __shared__ unsigned int mine[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    mine[threadIdx.x] = 0;
    __syncthreads();

    atomicAdd(&mine[data[i]], 1);
    __syncthreads();

    atomicAdd(&hist[threadIdx.x], mine[threadIdx.x]);
}
