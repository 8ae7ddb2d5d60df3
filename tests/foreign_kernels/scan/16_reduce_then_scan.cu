// buffers: X i32<100 in [N], Y i32 out [N]
// sizes: N=1; N=300; N=5003
// evo:workspace totals i32 [64]
// evo:launch upsweep(X, totals, N) grid(64) block(64)
// evo:launch spine(totals) grid(1) block(64)
// evo:launch downsweep(X, totals, Y, N) grid(64) block(64)

#define BLOCKS 64
#define THREADS 64

__device__ int share(int n) { return (n + BLOCKS * THREADS - 1) / (BLOCKS * THREADS) * THREADS; }

/* First the sum of each block's share. */
__global__ void upsweep(const int *in, int *totals, int n)
{
    __shared__ int s[THREADS];
    int begin = blockIdx.x * share(n);
    int end = min(begin + share(n), n);
    int sum = 0;
    for (int i = begin + threadIdx.x; i < end; i += THREADS) sum += in[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int w = THREADS / 2; w; w /= 2) {
        if (threadIdx.x < w) s[threadIdx.x] += s[threadIdx.x + w];
        __syncthreads();
    }
    if (!threadIdx.x) totals[blockIdx.x] = s[0];
}

__device__ int scan_block(int v, int *s)
{
    s[threadIdx.x] = v;
    __syncthreads();
    for (int d = 1; d < THREADS; d += d) {
        int t = v;
        if (threadIdx.x >= d) t += s[threadIdx.x - d];
        __syncthreads();
        s[threadIdx.x] = v = t;
        __syncthreads();
    }
    return v;
}

__global__ void spine(int *totals)
{
    __shared__ int s[THREADS];
    int own = totals[threadIdx.x];
    totals[threadIdx.x] = scan_block(own, s) - own;
}

/* Then each share again, from what is before it. */
__global__ void downsweep(const int *in, const int *totals, int *out, int n)
{
    __shared__ int s[THREADS];
    int begin = blockIdx.x * share(n);
    int end = min(begin + share(n), n);
    int before = totals[blockIdx.x];
    for (int base = begin; base < end; base += THREADS) {
        int i = base + threadIdx.x;
        int v = scan_block(i < end ? in[i] : 0, s);
        if (i < end) out[i] = before + v;
        before += s[THREADS - 1];
        __syncthreads();
    }
}
