// An image and a filter of rows in constant memory; the block's threads bring a tile, and those at its rim store nothing.
// buffers: image f32 in [H, W], mask f32 in [25], result f32 out [H, W]
// sizes: H=1 W=1; H=17 W=40; H=61 W=30
// evo:constant filter = mask
// evo:launch blur(image, result, H, W) grid(ceil_div(W, 28), ceil_div(H, 28)) block(32, 32)

#define R 2
#define TILE 32

__constant__ float filter[2 * R + 1][2 * R + 1];

__global__ void blur(const float *image, float *result, int height, int width)
{
    __shared__ float tile[TILE][TILE];
    int row = blockIdx.y * (TILE - 2 * R) + threadIdx.y - R;
    int col = blockIdx.x * (TILE - 2 * R) + threadIdx.x - R;
    if (row >= 0 && row < height && col >= 0 && col < width)
        tile[threadIdx.y][threadIdx.x] = image[row * width + col];
    else
        tile[threadIdx.y][threadIdx.x] = 0.0f;
    __syncthreads();
    if (threadIdx.x >= TILE - 2 * R || threadIdx.y >= TILE - 2 * R) return;
    int out_row = row + R, out_col = col + R;
    if (out_row >= height || out_col >= width) return;
    float sum = 0.0f;
    for (int i = 0; i < 2 * R + 1; ++i)
        for (int j = 0; j < 2 * R + 1; ++j) sum += filter[i][j] * tile[threadIdx.y + i][threadIdx.x + j];
    result[out_row * width + out_col] = sum;
}
