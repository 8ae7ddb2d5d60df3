// Bins of doubles in dynamic shared memory, which the first thread clears; a barrier more at the end.
// buffers: X f64 in [N], H u32 out [128]
// sizes: N=1; N=1000; N=20001
// evo:memset H 0
// evo:launch plain_bins(X, i64(N), H) grid(8) block(128)
// evo:launch shared_bins(X, i64(N), H) grid(ceil_div(N, 256)) block(128) shared(512)

__device__ int binOf(double x) { return min(127, max(0, (int)((x + 4.0) * 16.0))); }

__global__ void plain_bins(double *data, const long n, unsigned int *hist) {
    long i = threadIdx.x + blockIdx.x * blockDim.x;
    long stride = blockDim.x * gridDim.x;
    while (i < n) {
        int index = binOf(data[i]);
        atomicAdd(&hist[index], 1);
        i += stride;
    }
    __syncthreads();
}

__global__ void shared_bins(double *data, const long n, unsigned int *hist) {
    extern __shared__ unsigned int temp[];
    if (threadIdx.x == 0) {
        for (int b = 0; b < 128; b++) temp[b] = 0;
    }
    __syncthreads();
    for (long i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        int index = binOf(data[i]);
        atomicAdd(&temp[index], 1);
    }
    __syncthreads();
    atomicAdd(&(hist[threadIdx.x]), temp[threadIdx.x]);
    __syncthreads();
}
