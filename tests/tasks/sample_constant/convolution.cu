// evo:constant imaging::d_filter = filter
// evo:constant d_bias = bias
// evo:launch imaging::convolution<3>(image, result, W, H) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)
namespace imaging {
__constant__ float d_filter[3][3];
}
static __constant__ float d_bias;

namespace imaging {
template <int SIZE>
__global__ void convolution(const float *in, float *out, int width, int height)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col < width && row < height) {
        float value = d_bias;
        for (int i = 0; i < SIZE; i++) {
            for (int j = 0; j < SIZE; j++) {
                int y = row + i - SIZE / 2;
                int x = col + j - SIZE / 2;
                if (y >= 0 && y < height && x >= 0 && x < width)
                    value += d_filter[i][j] * in[y * width + x];
            }
        }
        out[row * width + col] = value;
    }
}
}
