// buffers: X u8<256 in [H, W], Y f32 out [1]
// sizes: H=1 W=1; H=20 W=31; H=65 W=130
// evo:memset Y 0
// evo:launch meanIntensity(X, Y, W, H) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)

__global__ void meanIntensity(const unsigned char *image, float *mean, int width, int height)
{
    __shared__ float tile[16 * 16];
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int tid = threadIdx.y * blockDim.x + threadIdx.x;

    tile[tid] = (x < width && y < height) ? (float)image[y * width + x] : 0.0f;
    __syncthreads();

    for (int s = (blockDim.x * blockDim.y) / 2; s > 0; s >>= 1) {
        if (tid < s)
            tile[tid] += tile[tid + s];
        __syncthreads();
    }

    if (tid == 0)
        atomicAdd(mean, tile[0] / (width * height));
}
