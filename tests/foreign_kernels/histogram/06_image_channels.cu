// buffers: X u8<256 in [H, W, 4], G i32 out [768]
// sizes: H=1 W=1; H=33 W=50; H=70 W=90
// evo:memset G 0
// evo:launch rgbHistogram(X, G, W, H) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)

__global__ void rgbHistogram(const uchar4 *pixels, int *hist, int width, int height)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= width || row >= height)
        return;
    const uchar4 p = pixels[row * width + col];
    atomicAdd(&hist[p.x], 1);
    atomicAdd(&hist[256 + p.y], 1);
    atomicAdd(&hist[512 + p.z], 1);
}
