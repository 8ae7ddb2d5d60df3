// Filters in constant memory, sizes as macros, the first layer of a network for digits.
// buffers: X f32 in [N, 1, H, W], F f32 in [4, 1, 5, 5], Y f32 out [N, 4, H - 4, W - 4]
// sizes: N=2 H=28 W=28; N=1 H=9 W=37; N=3 H=5 W=6
#define MASK_WIDTH 5
#define NUM_MAPS 4

__constant__ float d_mask[NUM_MAPS * MASK_WIDTH * MASK_WIDTH];

// evo:constant d_mask = F
// evo:launch conv_forward(X, Y, N, 1, H, W) grid(ceil_div(W - 4, 8), ceil_div(H - 4, 8), N * 4) block(8, 8)
__global__ void conv_forward(const float* x, float* y, const int B, const int C, const int H, const int W)
{
    const int H_out = H - MASK_WIDTH + 1;
    const int W_out = W - MASK_WIDTH + 1;
#define y4d(i3, i2, i1, i0) y[(i3) * (NUM_MAPS * H_out * W_out) + (i2) * (H_out * W_out) + (i1) * (W_out) + i0]
#define x4d(i3, i2, i1, i0) x[(i3) * (C * H * W) + (i2) * (H * W) + (i1) * (W) + i0]
#define k4d(i3, i2, i1, i0) d_mask[(i3) * (C * MASK_WIDTH * MASK_WIDTH) + (i2) * (MASK_WIDTH * MASK_WIDTH) + (i1) * (MASK_WIDTH) + i0]
    int b = blockIdx.z / NUM_MAPS;
    int m = blockIdx.z % NUM_MAPS;
    int h = blockIdx.y * blockDim.y + threadIdx.y;
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (h < H_out && w < W_out) {
        float acc = 0.0f;
        for (int c = 0; c < C; c++)
            for (int p = 0; p < MASK_WIDTH; p++)
                for (int q = 0; q < MASK_WIDTH; q++)
                    acc += x4d(b, c, h + p, w + q) * k4d(m, c, p, q);
        y4d(b, m, h, w) = acc;
    }
#undef y4d
#undef x4d
#undef k4d
}
