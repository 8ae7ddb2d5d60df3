// buffers: X i32<100 in [N], Y i32 out [N]
// sizes: N=1; N=300; N=5003
// evo:workspace level1 i32 [ceil_div(N, 512)]
// evo:workspace scanned1 i32 [ceil_div(N, 512)]
// evo:workspace level2 i32 [1]
// evo:launch scan(X, Y, level1, i64(N)) grid(ceil_div(N, 512)) block(512)
// evo:launch scan(level1, scanned1, level2, i64(ceil_div(N, 512))) grid(1) block(512)
// evo:launch add(Y, scanned1, i64(N)) grid(ceil_div(N, 512)) block(512)

// Exclusive; the sums of blocks are scanned by the same kernel.
__global__ void scan(const int *input, int *output, int *aux, long long len)
{
    __shared__ int data[512];
    const int t = threadIdx.x;
    const long long g = (long long)blockIdx.x * blockDim.x + t;
    data[t] = g < len ? input[g] : 0;
    for (int d = 1; d < blockDim.x; d <<= 1) {
        __syncthreads();
        int left = t >= d ? data[t - d] : 0;
        __syncthreads();
        data[t] += left;
    }
    __syncthreads();
    if (g < len) output[g] = t > 0 ? data[t - 1] : 0;
    if (t == 0) aux[blockIdx.x] = data[blockDim.x - 1];
}

__global__ void add(int *output, const int *before, long long len)
{
    const long long g = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (g < len) output[g] += before[blockIdx.x];
}
