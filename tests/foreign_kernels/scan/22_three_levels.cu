// buffers: X i32<100 in [N], Y i32 out [N]
// sizes: N=1; N=300; N=5003
// evo:workspace s1 i32 [ceil_div(N, 64)]
// evo:workspace s2 i32 [ceil_div(N, 4096)]
// evo:workspace s3 i32 [1]
// evo:launch scan64(X, Y, s1, N) grid(ceil_div(N, 64)) block(64)
// evo:launch scan64(s1, s1, s2, ceil_div(N, 64)) grid(ceil_div(N, 4096)) block(64)
// evo:launch scan64(s2, s2, s3, ceil_div(N, 4096)) grid(1) block(64)
// evo:launch add_to_tiles(s1, s2, ceil_div(N, 64)) grid(ceil_div(N, 4096)) block(64)
// evo:launch add_to_tiles(Y, s1, N) grid(ceil_div(N, 64)) block(64)

__global__ void scan64(const int *d_in, int *d_out, int *d_sums, int len)
{
    __shared__ int sh[2 * 64];
    int tid = threadIdx.x;
    int id = tid + 64 * blockIdx.x;
    int v = (id < len) ? d_in[id] : 0;
    sh[tid] = 0;           // zeros in front, so that no thread asks
    sh[64 + tid] = v;
    __syncthreads();
    for (int step = 1; step < 64; step += step) {
        int t = sh[64 + tid - step];
        __syncthreads();
        sh[64 + tid] += t;
        __syncthreads();
    }
    if (id < len) d_out[id] = sh[64 + tid] - v;
    if (tid == 63 && d_sums) d_sums[blockIdx.x] = sh[127];
}

__global__ void add_to_tiles(int *d_data, const int *d_sums, int len)
{
    int id = threadIdx.x + 64 * blockIdx.x;
    if (id < len) d_data[id] += d_sums[blockIdx.x];
}
