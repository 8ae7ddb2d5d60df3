// buffers: A f32 in [N + 2], B f32 inout [N + 2]
// sizes: N=128; N=384; N=1280
// evo:launch smooth(A, B) grid(N / 128) block(128)

// How many elements there are it is not told.
__global__ void smooth(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    out[i] = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1];
}
