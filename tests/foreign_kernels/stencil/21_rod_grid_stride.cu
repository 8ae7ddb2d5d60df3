// buffers: T f64 in [N], TN f64 out [N]
// sizes: N=1; N=300; N=1027
// evo:launch rod(TN, T, f64(0.1), i64(N)) grid(4) block(128)

/* Heat along a rod, fourth order. The ends keep their temperature. */
__global__ void rod(double *tnew, const double *told, const double r, const long long n)
{
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
        if (i < 2 || i >= n - 2) {
            tnew[i] = told[i];
            continue;
        }
        tnew[i] = told[i] + r * (-told[i - 2] + 16.0 * told[i - 1] - 30.0 * told[i] + 16.0 * told[i + 1] - told[i + 2]) / 12.0;
    }
}
