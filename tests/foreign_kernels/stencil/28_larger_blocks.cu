// buffers: A f32 in [H, W], B f32 out [H, W]
// sizes: H=1 W=1; H=13 W=12; H=40 W=130
// evo:launch mean3x3(A, B, W, H) grid(ceil_div(W, 16), ceil_div(H, 8)) block(18, 10)
#define BX 16
#define BY 8

// Each thread loads one element, those in the middle compute.
__global__ void mean3x3(const float *in, float *out, int w, int h)
{
    __shared__ float tile[BY + 2][BX + 2];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * BX + tx - 1, y = blockIdx.y * BY + ty - 1;
    tile[ty][tx] = in[min(max(y, 0), h - 1) * w + min(max(x, 0), w - 1)];
    __syncthreads();
    if (tx == 0 || tx > BX || ty == 0 || ty > BY) return;
    if (x >= w || y >= h) return;
    float sum = 0.0f;
    for (int i = -1; i <= 1; ++i)
        for (int j = -1; j <= 1; ++j)
            sum += tile[ty + i][tx + j];
    out[y * w + x] = sum / 9.0f;
}
