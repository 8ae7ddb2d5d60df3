// buffers: X i32<100 in [N], Y i32 out [N]
// sizes: N=1; N=300; N=5003
// evo:workspace flags i32 [ceil_div(N, 256) + 3]
// evo:workspace values i32 [ceil_div(N, 256) + 3]
// evo:memset flags 0
// evo:launch chained(X, Y, flags, values, N) grid(ceil_div(N, 256)) block(256)

// Each block waits for the sum of all before it.
__global__ void chained(const int *X, int *Y, int *flags, int *values, int N)
{
    __shared__ int bid_s, s[256], previous;
    if (threadIdx.x == 0) bid_s = atomicAdd(&flags[0], 1);
    __syncthreads();
    int bid = bid_s;
    int i = bid * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < N ? X[i] : 0;
    for (int d = 1; d < 256; d *= 2) {
        __syncthreads();
        int left = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
        __syncthreads();
        s[threadIdx.x] += left;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        previous = 0;
        if (bid > 0) {
            while (atomicAdd(&flags[bid + 1], 0) == 0) {}
            previous = atomicAdd(&values[bid], 0);
        }
        atomicExch(&values[bid + 1], previous + s[255]);
        __threadfence();
        atomicAdd(&flags[bid + 2], 1);
    }
    __syncthreads();
    if (i < N) Y[i] = previous + s[threadIdx.x];
}
