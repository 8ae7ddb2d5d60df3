// buffers: X f64 in [N], Y f64 out [N]
// sizes: N=1; N=300; N=5003
// evo:workspace sums f64 [ceil_div(N, 128)]
// evo:launch scan_block(X, Y, sums, i64(N)) grid(ceil_div(N, 128)) block(128)
// evo:launch scan_sums(sums, ceil_div(N, 128)) grid(1) block(1)
// evo:launch add_sums(Y, sums, i64(N)) grid(ceil_div(N, 128)) block(128)

__global__ void scan_block(const double *x, double *y, double *sums, long n)
{
    __shared__ double a[128];
    const int t = threadIdx.x;
    const long i = blockIdx.x * 128L + t;
    const double own = i < n ? x[i] : 0.0;
    a[t] = own;
    for (int d = 1; d < 128; d <<= 1) {
        __syncthreads();
        const double left = t >= d ? a[t - d] : 0.0;
        __syncthreads();
        a[t] += left;
    }
    __syncthreads();
    if (i < n) y[i] = t > 0 ? a[t - 1] : 0.0;
    if (t == 127) sums[blockIdx.x] = a[127];
}

__global__ void scan_sums(double *sums, int m)
{
    double run = 0.0;
    for (int k = 0; k < m; k++) {
        const double s = sums[k];
        sums[k] = run;
        run += s;
    }
}

__global__ void add_sums(double *y, const double *sums, long n)
{
    const long i = blockIdx.x * 128L + threadIdx.x;
    if (i < n) y[i] += sums[blockIdx.x];
}
