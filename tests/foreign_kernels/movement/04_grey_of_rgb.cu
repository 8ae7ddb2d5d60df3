// buffers: RGB u8<256 in [H, W, 3], G u8 out [H, W]
// sizes: H=1 W=1; H=13 W=12; H=40 W=130
// evo:launch colorToGrey(G, RGB, W, H) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)
#define CHANNELS 3

__global__ void colorToGrey(unsigned char *grey, unsigned char *rgb, int width, int height)
{
    int col = threadIdx.x + blockIdx.x * blockDim.x;
    int row = threadIdx.y + blockIdx.y * blockDim.y;
    if (col < width && row < height) {
        int greyOffset = row * width + col;
        int rgbOffset = greyOffset * CHANNELS;
        unsigned char r = rgb[rgbOffset];
        unsigned char g = rgb[rgbOffset + 1];
        unsigned char b = rgb[rgbOffset + 2];
        grey[greyOffset] = 0.21f * r + 0.71f * g + 0.07f * b;
    }
}
