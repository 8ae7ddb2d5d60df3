// buffers: SCORES f16 in [B, K, H, W], LABEL u8 out [B, H, W], CONF f32 out [B, H, W]
// sizes: B=1 K=1 H=1 W=1; B=2 K=21 H=9 W=14; B=1 K=150 H=7 W=20
// evo:launch argmax_of_pixel(SCORES, LABEL, CONF, B, K, H * W) grid(ceil_div(H * W, 64), B) block(64)
#include <cuda_fp16.h>
#include <stdint.h>

// The class of every pixel and its logit; planes of the classes lie one behind the other.
__global__ void argmax_of_pixel(const half *scores, uint8_t *label, float *confidence, int batch, int classes, int plane)
{
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    const int b = blockIdx.y;
    if (pixel >= plane || b >= batch)
        return;

    const half *src = scores + (int64_t)b * classes * plane + pixel;
    float best = __half2float(*src);
    uint8_t best_class = 0;
    for (int c = 1; c < classes; ++c)
    {
        src += plane;
        const float value = __half2float(*src);
        if (value > best)
        {
            best = value;
            best_class = (uint8_t)c;
        }
    }
    label[b * plane + pixel] = best_class;
    confidence[b * plane + pixel] = best;
}
