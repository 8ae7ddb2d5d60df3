// buffers: X f32 in [N, C, S], Y f32 out [N, C, S]
// sizes: N=1 C=1 S=1; N=2 C=21 S=77; N=5 C=130 S=9
// evo:workspace scale f32 [N, S]
// evo:memset scale 0
// evo:launch kernel_copy<float>(N * C * S, X, Y) grid(ceil_div(N * C * S, 256)) block(256)
// evo:launch kernel_channel_max<float>(N, C, S, Y, scale) grid(ceil_div(N * S, 256)) block(256)
// evo:launch kernel_channel_subtract<float>(N * C * S, C, S, scale, Y) grid(ceil_div(N * C * S, 256)) block(256)
// evo:launch kernel_exp<float>(N * C * S, Y) grid(ceil_div(N * C * S, 256)) block(256)
// evo:launch kernel_channel_sum<float>(N, C, S, Y, scale) grid(ceil_div(N * S, 256)) block(256)
// evo:launch kernel_channel_div<float>(N * C * S, C, S, scale, Y) grid(ceil_div(N * C * S, 256)) block(256)
#include <float.h>

#define KERNEL_LOOP(i, n) \
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; \
       i < (n); \
       i += blockDim.x * gridDim.x)

template <typename Dtype>
__global__ void kernel_copy(const int count, const Dtype* src, Dtype* dst) {
  KERNEL_LOOP(index, count) {
    dst[index] = src[index];
  }
}

template <typename Dtype>
__global__ void kernel_channel_max(const int num, const int channels,
    const int spatial_dim, const Dtype* data, Dtype* out) {
  KERNEL_LOOP(index, num * spatial_dim) {
    int n = index / spatial_dim;
    int s = index % spatial_dim;
    Dtype maxval = -FLT_MAX;
    for (int c = 0; c < channels; ++c) {
      maxval = max(data[(n * channels + c) * spatial_dim + s], maxval);
    }
    out[index] = maxval;
  }
}

template <typename Dtype>
__global__ void kernel_channel_subtract(const int count, const int channels,
    const int spatial_dim, const Dtype* channel_max, Dtype* data) {
  KERNEL_LOOP(index, count) {
    int n = index / channels / spatial_dim;
    int s = index % spatial_dim;
    data[index] -= channel_max[n * spatial_dim + s];
  }
}

template <typename Dtype>
__global__ void kernel_exp(const int count, Dtype* data) {
  KERNEL_LOOP(index, count) {
    data[index] = exp(data[index]);
  }
}

template <typename Dtype>
__global__ void kernel_channel_sum(const int num, const int channels,
    const int spatial_dim, const Dtype* data, Dtype* channel_sum) {
  KERNEL_LOOP(index, num * spatial_dim) {
    int n = index / spatial_dim;
    int s = index % spatial_dim;
    Dtype sum = 0;
    for (int c = 0; c < channels; ++c) {
      sum += data[(n * channels + c) * spatial_dim + s];
    }
    channel_sum[index] = sum;
  }
}

template <typename Dtype>
__global__ void kernel_channel_div(const int count, const int channels,
    const int spatial_dim, const Dtype* channel_sum, Dtype* data) {
  KERNEL_LOOP(index, count) {
    int n = index / channels / spatial_dim;
    int s = index % spatial_dim;
    data[index] /= channel_sum[n * spatial_dim + s];
  }
}
