// buffers: X i32<100 in [N], Y i32 out [N]
// sizes: N=1; N=300; N=5003
// evo:workspace block_sums i32 [ceil_div(N, 256)]
// evo:launch prescan(Y, X, block_sums, N) grid(ceil_div(N, 256)) block(128) shared(256 * 4)
// evo:launch prescan_large(block_sums, ceil_div(N, 256)) grid(1) block(128) shared(128 * 4)
// evo:launch add_offsets(Y, block_sums, N) grid(ceil_div(N, 256)) block(128)

// Up and down the tree, two elements a thread, exclusive.
__global__ void prescan(int *out, const int *in, int *sums, int n)
{
    extern __shared__ int tree[];
    const int t = threadIdx.x;
    const int base = 2 * blockDim.x * blockIdx.x;
    const int size = 2 * blockDim.x;

    tree[2 * t]     = (base + 2 * t < n) ? in[base + 2 * t] : 0;
    tree[2 * t + 1] = (base + 2 * t + 1 < n) ? in[base + 2 * t + 1] : 0;

    int offset = 1;
    for (int d = size >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int left = offset * (2 * t + 1) - 1;
            int right = offset * (2 * t + 2) - 1;
            tree[right] += tree[left];
        }
        offset <<= 1;
    }
    if (t == 0) {
        sums[blockIdx.x] = tree[size - 1];
        tree[size - 1] = 0;
    }
    for (int d = 1; d < size; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int left = offset * (2 * t + 1) - 1;
            int right = offset * (2 * t + 2) - 1;
            int swap = tree[left];
            tree[left] = tree[right];
            tree[right] += swap;
        }
    }
    __syncthreads();
    if (base + 2 * t < n) out[base + 2 * t] = tree[2 * t];
    if (base + 2 * t + 1 < n) out[base + 2 * t + 1] = tree[2 * t + 1];
}

// One block goes along with a running total.
__global__ void prescan_large(int *data, int n)
{
    extern __shared__ int s[];
    __shared__ int carry;
    int t = threadIdx.x;
    if (t == 0) carry = 0;
    __syncthreads();
    for (int base = 0; base < n; base += blockDim.x) {
        int own = base + t < n ? data[base + t] : 0;
        s[t] = own;
        __syncthreads();
        for (int d = 1; d < blockDim.x; d <<= 1) {
            int add = t >= d ? s[t - d] : 0;
            __syncthreads();
            s[t] += add;
            __syncthreads();
        }
        if (base + t < n) data[base + t] = carry + s[t] - own;
        __syncthreads();
        if (t == blockDim.x - 1) carry += s[t];
        __syncthreads();
    }
}

__global__ void add_offsets(int *out, const int *sums, int n)
{
    int i = 2 * blockDim.x * blockIdx.x + threadIdx.x;
    int add = sums[blockIdx.x];
    if (i < n) out[i] += add;
    if (i + blockDim.x < n) out[i + blockDim.x] += add;
}
