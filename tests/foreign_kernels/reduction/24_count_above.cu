// buffers: X f32 in [N], Y i32 out [1]
// sizes: N=1; N=1000; N=30011
// evo:memset Y 0
// evo:launch count_above(X, Y, f32(0.5), N) grid(ceil_div(N, 256)) block(256)

// How many elements are larger than a threshold.
__global__ void count_above(const float *x, int *total, float threshold, int n) {
    __shared__ int counts[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int mine = 0;
    if (i < n && x[i] > threshold)
        mine = 1;
    counts[threadIdx.x] = mine;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            counts[threadIdx.x] += counts[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(total, counts[0]);
}
