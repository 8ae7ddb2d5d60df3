// buffers: X f32 in [N], Y f32 out [N]
// sizes: N=1; N=300; N=512
// evo:launch scan_one_block(Y, X, N) grid(1) block(512) shared(2 * 512 * 4)

// The first scan of every course: one block, two rows. More than 512 elements do not fit.
__global__ void scan_one_block(float *g_odata, float *g_idata, int n)
{
    extern __shared__ float temp[];
    int thid = threadIdx.x;
    int pout = 0, pin = 1;
    temp[pout * 512 + thid] = (thid > 0 && thid < n) ? g_idata[thid - 1] : 0;
    __syncthreads();
    for (int offset = 1; offset < 512; offset *= 2)
    {
        pout = 1 - pout;
        pin = 1 - pout;
        if (thid >= offset)
            temp[pout * 512 + thid] = temp[pin * 512 + thid] + temp[pin * 512 + thid - offset];
        else
            temp[pout * 512 + thid] = temp[pin * 512 + thid];
        __syncthreads();
    }
    if (thid < n) g_odata[thid] = temp[pout * 512 + thid];
}
