// Three arrays of bins in a block of two dimensions.
// buffers: X u8<256 in [H, W, 3], G u32 out [768]
// sizes: H=1 W=1; H=33 W=50; H=70 W=131
// evo:memset G 0
// evo:launch colours(X, W, H, G) grid(4, 4) block(32, 4)

__global__ void colours(const unsigned char *img, int width, int height, unsigned int *hist)
{
    __shared__ unsigned int r[256], g[256], b[256];
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    int nt = blockDim.x * blockDim.y;
    for (int i = t; i < 256; i += nt) {
        r[i] = 0;
        g[i] = b[i] = 0;
    }
    __syncthreads();
    int sx = blockDim.x * gridDim.x, sy = blockDim.y * gridDim.y;
    for (int col = blockIdx.x * blockDim.x + threadIdx.x; col < width; col += sx)
        for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < height; row += sy) {
            const unsigned char *p = img + 3 * (row * width + col);
            atomicAdd(&r[p[0]], 1);
            atomicAdd(&g[p[1]], 1);
            atomicAdd(&b[p[2]], 1);
        }
    __syncthreads();
    for (int i = t; i < 256; i += nt) {
        atomicAdd(&hist[i], r[i]);
        atomicAdd(&hist[256 + i], g[i]);
        atomicAdd(&hist[512 + i], b[i]);
    }
}
