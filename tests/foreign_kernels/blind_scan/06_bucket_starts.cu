// buffers: COUNT i32<20 in [N], START i32 out [N + 1]
// sizes: N=1; N=700; N=5003
// evo:workspace block_sum i32 [ceil_div(N, 512)]
// evo:launch up(COUNT, START, block_sum, N) grid(ceil_div(N, 512)) block(512)
// evo:launch middle(block_sum, START, ceil_div(N, 512), N) grid(1) block(32)
// evo:launch down(START, block_sum, N) grid(ceil_div(N, 512)) block(512)

// Where buckets of a counting sort start. START[n] is the number of all elements.
__global__ void up(const int *count, int *start, int *block_sum, int n)
{
    __shared__ int buf[512];
    const int t = threadIdx.x, i = blockIdx.x * 512 + t;
    int x = i < n ? count[i] : 0;
    buf[t] = x;
    __syncthreads();
    for (int d = 1; d < 512; d <<= 1) {
        int y = t >= d ? buf[t - d] : 0;
        __syncthreads();
        buf[t] += y;
        __syncthreads();
    }
    if (i < n) start[i] = buf[t] - x;
    if (t == 511) block_sum[blockIdx.x] = buf[t];
}

__global__ void middle(int *block_sum, int *start, int blocks, int n)
{
    int carry = 0;
    for (int base = 0; base < blocks; base += 32) {
        int b = base + threadIdx.x;
        int own = b < blocks ? block_sum[b] : 0, x = own;
        for (int d = 1; d < 32; d *= 2) {
            int y = __shfl_up_sync(0xffffffff, x, d);
            if (threadIdx.x >= d) x += y;
        }
        if (b < blocks) block_sum[b] = carry + x - own;
        carry += __shfl_sync(0xffffffff, x, 31);
    }
    if (threadIdx.x == 0) start[n] = carry;
}

__global__ void down(int *start, const int *block_sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) start[i] += block_sum[blockIdx.x];
}
