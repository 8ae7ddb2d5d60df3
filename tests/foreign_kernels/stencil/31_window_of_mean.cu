// The mean of what a window has within the picture; its radius is an argument, for which the host passes a number.
// buffers: src u8<256 in [H, W], dst u8<256 out [H, W]
// sizes: H=1 W=1; H=13 W=12; H=40 W=130
// evo:launch mean(src, dst, u32(H), u32(W), 2) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)

__global__ void mean(const unsigned char *src, unsigned char *dst, unsigned rows, unsigned cols, int radius)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col < cols && row < rows) {
        float sum = 0.0f, count = 0.0f;
        for (int i = max(0, row - radius); i <= min(rows - 1, row + radius); ++i)
            for (int j = max(0, col - radius); j <= min(cols - 1, col + radius); ++j) {
                sum += src[i * cols + j];
                count++;
            }
        dst[row * cols + col] = (unsigned char)(sum / count);
    }
}
