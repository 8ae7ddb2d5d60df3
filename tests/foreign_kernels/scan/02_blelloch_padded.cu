// buffers: X i32<100 in [N], Y i32 out [N]
// sizes: N=1; N=300; N=5003
// evo:workspace sums i32 [ceil_div(N, 256)]
// evo:launch prescan(Y, X, sums, N) grid(ceil_div(N, 256)) block(128) shared((256 + 8) * 4)
// evo:launch scan_sums(sums, ceil_div(N, 256)) grid(1) block(1)
// evo:launch add_sums(Y, sums, N) grid(ceil_div(N, 256)) block(256)
#define NUM_BANKS 32
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)

// Work-efficient, without conflicts of banks.
__global__ void prescan(int *g_odata, const int *g_idata, int *sums, int n)
{
    extern __shared__ int temp[];
    int thid = threadIdx.x;
    int size = blockDim.x * 2;
    int base = blockIdx.x * size;
    int offset = 1;

    int ai = thid;
    int bi = thid + (size / 2);
    int bankOffsetA = CONFLICT_FREE_OFFSET(ai);
    int bankOffsetB = CONFLICT_FREE_OFFSET(bi);
    temp[ai + bankOffsetA] = base + ai < n ? g_idata[base + ai] : 0;
    temp[bi + bankOffsetB] = base + bi < n ? g_idata[base + bi] : 0;

    for (int d = size >> 1; d > 0; d >>= 1) // build sum in place up the tree
    {
        __syncthreads();
        if (thid < d)
        {
            int a = offset * (2 * thid + 1) - 1;
            int b = offset * (2 * thid + 2) - 1;
            a += CONFLICT_FREE_OFFSET(a);
            b += CONFLICT_FREE_OFFSET(b);
            temp[b] += temp[a];
        }
        offset *= 2;
    }
    if (thid == 0)
    {
        sums[blockIdx.x] = temp[size - 1 + CONFLICT_FREE_OFFSET(size - 1)];
        temp[size - 1 + CONFLICT_FREE_OFFSET(size - 1)] = 0; // clear the last element
    }
    for (int d = 1; d < size; d *= 2) // traverse down tree & build scan
    {
        offset >>= 1;
        __syncthreads();
        if (thid < d)
        {
            int a = offset * (2 * thid + 1) - 1;
            int b = offset * (2 * thid + 2) - 1;
            a += CONFLICT_FREE_OFFSET(a);
            b += CONFLICT_FREE_OFFSET(b);
            int t = temp[a];
            temp[a] = temp[b];
            temp[b] += t;
        }
    }
    __syncthreads();
    if (base + ai < n) g_odata[base + ai] = temp[ai + bankOffsetA];
    if (base + bi < n) g_odata[base + bi] = temp[bi + bankOffsetB];
}

__global__ void scan_sums(int *sums, int count)
{
    int running = 0;
    for (int i = 0; i < count; ++i) {
        int mine = sums[i];
        sums[i] = running;
        running += mine;
    }
}

__global__ void add_sums(int *g_odata, const int *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) g_odata[i] += sums[blockIdx.x];
}
