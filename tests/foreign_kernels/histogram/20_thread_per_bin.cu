// buffers: X u8<100 in [N], H i32 out [100]
// sizes: N=1; N=300; N=1001
// evo:launch count_each(X, H, N, 100) grid(1) block(128)

// No atomics: each thread looks for its own value.
__global__ void count_each(const unsigned char *data, int *hist, int n, int bins)
{
    int bin = blockIdx.x * blockDim.x + threadIdx.x;
    if (bin < bins)
    {
        int found = 0;
        for (int i = 0; i < n; i++)
        {
            if (data[i] == bin)
                found++;
        }
        hist[bin] = found;
    }
}
