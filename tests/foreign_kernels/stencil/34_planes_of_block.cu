// Each plane is that of a thread's z; rows outside are passed over, and weights along a row are constants.
// buffers: img f32 in [3, H, W], out f32 out [3, H, W]
// sizes: H=1 W=1; H=13 W=12; H=40 W=70
// evo:launch smooth(img, out, W, H) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16, 3)

#define RADIUS 2

__constant__ float taps[2 * RADIUS + 1] = {1, 4, 6, 4, 1};

__global__ void smooth(const float *img, float *out, int width, int height)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int plane = threadIdx.z;
    int base = plane * width * height;
    if (col < width && row < height) {
        float sum = 0.0f;
        float weight = 0;
        for (int i = -RADIUS; i <= RADIUS; ++i) {
            int y = i + row;
            if (y < 0 || y >= height) continue;
            for (int j = -RADIUS; j <= RADIUS; ++j) {
                int x = col + j;
                if (x < 0 || x >= width) continue;
                sum = sum + taps[j + RADIUS] * img[base + y * width + x];
                weight += taps[j + RADIUS];
            }
        }
        out[base + row * width + col] = weight > 0 ? sum / weight : 0.0f;
    }
}
