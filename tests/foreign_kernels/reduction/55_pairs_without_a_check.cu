// buffers: X f32 in [N], Y f32 out [N / 256]
// sizes: N=256; N=1024; N=19968
// evo:launch add_pairs(X, Y, N) grid(N / 256) block(128)

// The second of two numbers is read where the first one is there: right for whole blocks.
__global__ void add_pairs(const float *in, float *out, int n)
{
    __shared__ float part[128];
    int t = threadIdx.x;
    part[t] = 0;
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) part[t] += in[i] + in[i + 128];
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}
