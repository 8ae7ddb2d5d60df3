// One thread an element of the output, padding by a guard.
// buffers: X f16 in [N, C, H, W], F f16 in [K, C, 3, 3], Y f16 out [N, K, H, W]
// sizes: N=2 C=3 K=4 H=9 W=11; N=1 C=5 K=2 H=6 W=34
#include <cuda_fp16.h>
#define KSIZE 3
#define PAD 1

// evo:launch conv2d_naive(X, F, Y, C, K, H, W) grid(ceil_div(W, 16), ceil_div(H, 16), N * K) block(16, 16)
__global__ void conv2d_naive(const half* input, const half* kernel, half* output, int channels, int filters, int height,
                             int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z % filters;
    int n = blockIdx.z / filters;
    if (x < width && y < height) {
        float sum = 0.0f;
        for (int c = 0; c < channels; c++) {
            for (int ky = 0; ky < KSIZE; ky++) {
                for (int kx = 0; kx < KSIZE; kx++) {
                    int in_x = x + kx - PAD;
                    int in_y = y + ky - PAD;
                    if (in_x >= 0 && in_x < width && in_y >= 0 && in_y < height) {
                        sum += __half2float(input[((n * channels + c) * height + in_y) * width + in_x]) *
                               __half2float(kernel[((k * channels + c) * KSIZE + ky) * KSIZE + kx]);
                    }
                }
            }
        }
        output[((n * filters + k) * height + y) * width + x] = __float2half(sum);
    }
}
