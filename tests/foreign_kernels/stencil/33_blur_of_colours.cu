// The mean of each of three colours in a window, as far as it lies within the picture; the host passes the radius.
// buffers: img u8<256 in [H, W, 3], out u8<256 out [H, W, 3]
// sizes: H=1 W=1; H=13 W=12; H=40 W=70
// evo:launch blur(img, out, W, H, 3) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)

__global__ void blur(unsigned char *img, unsigned char *out, int width, int height, int radius)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= width || row >= height) return;
    int pixel = (row * width + col) * 3;
    int red = 0, green = 0, blue = 0, count = 0;
    for (int dy = -radius; dy < radius + 1; dy++) {
        for (int dx = -radius; dx < radius + 1; dx++) {
            int x = col + dx, y = row + dy;
            if (x >= 0 && x < width && y >= 0 && y < height) {
                int at = (y * width + x) * 3;
                red += img[at];
                green += img[at + 1];
                blue += img[at + 2];
                count++;
            }
        }
    }
    out[pixel] = red / count;
    out[pixel + 1] = green / count;
    out[pixel + 2] = blue / count;
}
