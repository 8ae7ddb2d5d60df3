// buffers: X f32 in [N, C, H, W], Y f32 out [N, H, W, C]
// sizes: N=1 C=1 H=1 W=1; N=2 C=3 H=7 W=9; N=2 C=40 H=5 W=11
// evo:launch nchw2nhwc(X, Y, N, C, H, W) grid(ceil_div(N * C * H * W, 256)) block(256)

__global__ void nchw2nhwc(const float *in, float *out, int N, int C, int H, int W)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid >= N * C * H * W) return;
    int w = tid % W;
    int h = (tid / W) % H;
    int c = (tid / (W * H)) % C;
    int n = tid / (W * H * C);
    out[((n * H + h) * W + w) * C + c] = in[tid];
}
