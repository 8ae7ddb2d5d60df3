// Sobel with both masks as local arrays of rows.
// buffers: picture u8<256 in [H, W], edges u8<256 inout [H, W]
// sizes: H=3 W=3; H=13 W=12; H=40 W=130
// evo:launch sobel(picture, edges, W, H) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)

__global__ void sobel(const unsigned char *picture, unsigned char *edges, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
        int across[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
        int down[3][3] = {{-1, -2, -1}, {0, 0, 0}, {1, 2, 1}};
        int gx = 0, gy = 0;
        for (int i = -1; i <= 1; i++) for (int j = -1; j <= 1; j++) {
            int value = picture[(y + i) * width + x + j];
            gx += value * across[i + 1][j + 1];
            gy += value * down[i + 1][j + 1];
        }
        int size = (int)sqrtf((float)(gx * gx + gy * gy));
        edges[y * width + x] = size > 255 ? 255 : size;
    }
}
