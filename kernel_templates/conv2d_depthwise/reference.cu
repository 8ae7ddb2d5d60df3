// Depthwise 3x3 convolution as its definition says it, in double precision. One thread computes one element.
// evo:launch conv2d_depthwise_reference(X, F, Y, N, C, H, W) grid(ceil_div(N * C * H * W, 128)) block(128)

__global__ void conv2d_depthwise_reference(const float* X, const float* F, double* Y, int images, int channels, int height,
                                           int width) {
  const long long element = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (element >= (long long)images * channels * height * width) return;
  const int w = element % width;
  const int h = element / width % height;
  const long long plane = element / width / height;
  const int c = plane % channels;
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const int y = h + i - 1;
      const int x = w + j - 1;
      if (y < 0 || y >= height || x < 0 || x >= width) continue;
      sum += double(X[(plane * height + y) * width + x]) * double(F[(c * 3LL + i) * 3 + j]);
    }
  }
  Y[element] = sum;
}
