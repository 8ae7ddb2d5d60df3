// A row of bins for each channel, all of which are cleared and added as one array.
// buffers: X u8<256 in [H, W, 4], G u32 out [768]
// sizes: H=1 W=1; H=33 W=50; H=70 W=131
// evo:memset G 0
// evo:launch channels(X, W, H, G) grid(4, 3) block(32, 4)

constexpr int kLevels = 256;

__global__ void channels(const uchar4* __restrict__ pixels, int w, int h, unsigned int* __restrict__ out)
{
    __shared__ unsigned int level[3][kLevels];
    const int threads = blockDim.x * blockDim.y;
    const int t = threadIdx.y * blockDim.x + threadIdx.x;
    for (int k = t; k < 3 * kLevels; k += threads) (&level[0][0])[k] = 0;
    __syncthreads();

    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < h; row += gridDim.y * blockDim.y) {
        for (int col = blockIdx.x * blockDim.x + threadIdx.x; col < w; col += gridDim.x * blockDim.x) {
            const uchar4 p = pixels[row * w + col];
            atomicAdd(&level[0][p.x], 1u);
            atomicAdd(&level[1][p.y], 1u);
            atomicAdd(&level[2][p.z], 1u);
        }
    }
    __syncthreads();

    for (int k = t; k < 3 * kLevels; k += threads) {
        const unsigned int met = (&level[0][0])[k];
        if (met) atomicAdd(&out[k], met);
    }
}
