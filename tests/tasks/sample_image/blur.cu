// evo:launch blurKernel(in, out, W, H) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)
#define RADIUS 3

__device__ int clampTo(int v, int hi)
{
    return v < 0 ? 0 : (v > hi ? hi : v);
}

__global__ void blurKernel(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;

    float sum = 0.0f;
    for (int k = -RADIUS; k <= RADIUS; ++k)
        sum += in[y * width + clampTo(x + k, width - 1)];
    out[y * width + x] = 1.0f / (1.0f + expf(-sum / (2 * RADIUS + 1)));
}
