// A grid of 1024 x 512 threads strides over all pixels; its x runs down the picture. Beyond the border is the nearest pixel.
// buffers: A f32 in [H, W], B f32 out [H, W]
// sizes: H=3 W=7; H=40 W=70
#define AT(r, c) grey[max(min(r, h - 1), 0) * w + max(min(c, w - 1), 0)]
// evo:launch edges(A, B, W, H) grid(32, 16) block(32, 32)
__global__ void edges(const float *grey, float *strength, int w, int h)
{
    int first_row = blockIdx.x * blockDim.x + threadIdx.x, first_column = blockIdx.y * blockDim.y + threadIdx.y;
    int rows = gridDim.x * blockDim.x, columns = gridDim.y * blockDim.y;
    for (int i = first_row; i < h; i += rows) {
        for (int j = first_column; j < w; j += columns) {
            float down = 0.0f, along = 0.0f;
            for (int p = -1; p < 2; p++) {
                float times = p == 0 ? 2.0f : 1.0f;
                down += times * (AT(i + 1, j + p) - AT(i - 1, j + p));
                along += times * (AT(i + p, j + 1) - AT(i + p, j - 1));
            }
            strength[i * w + j] = sqrtf(down * down + along * along);
        }
    }
}
