// buffers: X f32 in [N, C, H, W], Y f32 out [N, C, H / 2, W / 2]
// sizes: N=1 C=1 H=2 W=2; N=2 C=3 H=8 W=12; N=1 C=4 H=20 W=34
// evo:launch maxpool2x2(N * C * (H / 2) * (W / 2), X, Y, C, H, W) grid(ceil_div(N * C * (H / 2) * (W / 2), 256)) block(256)
#define CUDA_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)

__global__ void maxpool2x2(const int nthreads, const float* const bottom, float* const top, const int channels, const int height,
                           const int width) {
  CUDA_KERNEL_LOOP(index, nthreads) {
    const int pw = index % (width / 2);
    const int ph = (index / (width / 2)) % (height / 2);
    const int c = (index / (width / 2) / (height / 2)) % channels;
    const int n = index / (width / 2) / (height / 2) / channels;
    const float* const slice = bottom + (n * channels + c) * height * width;
    float best = -3.4e38f;
    for (int h = 2 * ph; h < 2 * ph + 2; ++h)
      for (int w = 2 * pw; w < 2 * pw + 2; ++w)
        if (slice[h * width + w] > best) best = slice[h * width + w];
    top[index] = best;
  }
}
