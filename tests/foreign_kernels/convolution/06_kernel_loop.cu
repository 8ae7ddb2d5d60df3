// A grid-stride loop by a macro, bias and leaky ReLU.
// buffers: X bf16 in [N, C, H, W], F bf16 in [K, C, 3, 3], bias bf16 in [K], Y bf16 out [N, K, H, W]
// sizes: N=2 C=3 K=4 H=9 W=11; N=1 C=5 K=2 H=6 W=34
#include <cuda_bf16.h>
#define CUDA_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)

// evo:launch ConvForward(N * K * H * W, X, F, bias, Y, C, K, H, W) grid(4) block(128)
__global__ void ConvForward(const int nthreads, const __nv_bfloat16* bottom, const __nv_bfloat16* weight,
                            const __nv_bfloat16* bias, __nv_bfloat16* top, const int channels, const int num_output,
                            const int height, const int width) {
  CUDA_KERNEL_LOOP(index, nthreads) {
    const int pw = index % width;
    const int ph = (index / width) % height;
    const int o = (index / width / height) % num_output;
    const int n = index / width / height / num_output;
    float aveval = 0;
    for (int c = 0; c < channels; ++c) {
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          const int h = ph + i - 1;
          const int w = pw + j - 1;
          if (h >= 0 && w >= 0 && h < height && w < width) {
            aveval += __bfloat162float(bottom[((n * channels + c) * height + h) * width + w]) *
                      __bfloat162float(weight[((o * channels + c) * 3 + i) * 3 + j]);
          }
        }
      }
    }
    aveval += __bfloat162float(bias[o]);
    top[index] = __float2bfloat16(aveval > 0 ? aveval : 0.1f * aveval);
  }
}
