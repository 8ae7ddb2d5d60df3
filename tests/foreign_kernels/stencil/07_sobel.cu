// buffers: A f32 in [H, W], B f32 out [H, W]
// sizes: H=1 W=1; H=13 W=12; H=40 W=130
// evo:launch sobel(A, B, W, H) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)

__global__ void sobel(const float *img, float *edges, unsigned int width, unsigned int height)
{
    unsigned int x = threadIdx.x + blockIdx.x * blockDim.x;
    unsigned int y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1)
    {
        float dx = (-1 * img[(y - 1) * width + (x - 1)]) + (-2 * img[y * width + (x - 1)]) + (-1 * img[(y + 1) * width + (x - 1)]) +
                   (img[(y - 1) * width + (x + 1)]) + (2 * img[y * width + (x + 1)]) + (img[(y + 1) * width + (x + 1)]);
        float dy = (img[(y - 1) * width + (x - 1)]) + (2 * img[(y - 1) * width + x]) + (img[(y - 1) * width + (x + 1)]) +
                   (-1 * img[(y + 1) * width + (x - 1)]) + (-2 * img[(y + 1) * width + x]) + (-1 * img[(y + 1) * width + (x + 1)]);
        edges[y * width + x] = sqrtf((dx * dx) + (dy * dy));
    }
}
