// One block more than there are whole ones, which has no elements if all are whole; the last warp needs no barrier.
// buffers: in f32 in [N], sums f32 out [N / 512 + 1]
// sizes: N=1; N=512; N=1536; N=5000
// evo:launch sums_of_blocks(in, sums, N) grid(N / 512 + 1) block(256)

__global__ void sums_of_blocks(const float *in, float *sums, int n)
{
    __shared__ float part[256];
    int t = threadIdx.x, i = blockIdx.x * 512 + t;
    part[t] = (i < n ? in[i] : 0.0f) + (i + 256 < n ? in[i + 256] : 0.0f);
    for (int s = 128; s > 0; s >>= 1) {
        __syncthreads();
        if (t < s) part[t] += part[t + s];
    }
    if (t == 0) sums[blockIdx.x] = part[0];
}
