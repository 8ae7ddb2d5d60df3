// One block, as many steps as a logarithm says.
// buffers: X f32 in [N], Y f32 out [N]
// sizes: N=1; N=300; N=1000

// evo:launch scan_in_steps(X, Y, N) grid(1) block(1024)
__global__ void scan_in_steps(const float* x, float* y, int n) {
    __shared__ float sums[1024];
    const int i = threadIdx.x;
    sums[i] = i < n ? x[i] : 0.0f;
    __syncthreads();
    int distance = 1;
    for (int step = 0; step < ceilf(log2f((float)n)); ++step) {
        const float before = i >= distance ? sums[i - distance] : 0.0f;
        __syncthreads();
        sums[i] += before;
        distance *= 2;
        __syncthreads();
    }
    if (i < n) y[i] = sums[i];
}
