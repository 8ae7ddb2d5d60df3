// evo:launch conv_forward(Y, X, F, N, C, K, H, W) grid(ceil_div(N * K * H * W, 256)) block(256)
#include <cuda_fp16.h>
#define KERNEL_SIZE 3
#define PAD 1

__global__ void conv_forward(half *out, const half *in, const half *weights, int batch, int in_channels, int out_channels, int h,
                             int w) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    int total = batch * out_channels * h * w;
    if (index < total) {
        int ow = index % w;
        int oh = (index / w) % h;
        int oc = (index / (w * h)) % out_channels;
        int b = index / (w * h * out_channels);
        int taps = KERNEL_SIZE * KERNEL_SIZE;
        float acc = 0.0f;
        for (int k = 0; k < in_channels * taps; k++) {
            int ic = k / taps;
            int kh = (k % taps) / KERNEL_SIZE;
            int kw = k % KERNEL_SIZE;
            int ih = oh + kh - PAD;
            int iw = ow + kw - PAD;
            if (ih >= 0 && ih < h && iw >= 0 && iw < w) {
                float a = __half2float(in[((b * in_channels + ic) * h + ih) * w + iw]);
                float f = __half2float(weights[oc * in_channels * taps + k]);
                acc += a * f;
            }
        }
        out[index] = __float2half(acc);
    }
}
