// Items of a thread in an array that functions take by reference; sums that they leave through pointers to variables.
// buffers: X i32<2 in [N], Y i32 out [N]
// sizes: N=1; N=1024; N=5003
// evo:workspace S i32 [ceil_div(N, 512)]
// evo:launch scan_items(X, Y, S, N) grid(ceil_div(N, 512)) block(64)
// evo:launch scan_sums(S, ceil_div(N, 512)) grid(1) block(1)
// evo:launch add_sums(Y, S, N) grid(ceil_div(N, 512)) block(256)
constexpr int kItems = 8;

__device__ void serial_scan(int (&items)[kItems], int *aggregate)
{
    int sum = 0;
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
        int v = items[k];
        items[k] = sum;
        sum += v;
    }
    *aggregate = sum;
}

__device__ void scan_block(int *smem, int mine, int &before, int &all)
{
    int t = threadIdx.x;
    smem[t] = mine;
    __syncthreads();
    for (int d = 1; d < 64; d <<= 1) {
        int add = t >= d ? smem[t - d] : 0;
        __syncthreads();
        smem[t] += add;
        __syncthreads();
    }
    before = t > 0 ? smem[t - 1] : 0;
    all = smem[63];
}

__global__ void scan_items(const int *flags, int *places, int *sums, int n)
{
    __shared__ int smem[64];
    int items[kItems];
    int base = blockIdx.x * 64 * kItems + threadIdx.x * kItems;
#pragma unroll
    for (int k = 0; k < kItems; ++k) items[k] = base + k < n ? flags[base + k] : 0;
    int aggregate, before, all;
    serial_scan(items, &aggregate);
    scan_block(smem, aggregate, before, all);
#pragma unroll
    for (int k = 0; k < kItems; ++k)
        if (base + k < n) places[base + k] = before + items[k];
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

__global__ void scan_sums(int *sums, int count)
{
    int run = 0;
    for (int i = 0; i < count; ++i) {
        int v = sums[i];
        sums[i] = run;
        run += v;
    }
}

__global__ void add_sums(int *places, const int *sums, int n)
{
    for (int k = threadIdx.x; k < 64 * kItems; k += blockDim.x) {
        int i = blockIdx.x * 64 * kItems + k;
        if (i < n) places[i] += sums[blockIdx.x];
    }
}
