// buffers: SRC f32 in [A, C, B], DST f32 out [A, C, B]
// sizes: A=1 C=1 B=1; A=3 C=130 B=2; A=2 C=70 B=5
// evo:launch softmax_axis({SRC, DST, A, C, B}) grid(A * B) block(128)
#include <cfloat>

struct SoftmaxParams {
  const float* src;
  float* dst;
  int outer, channels, inner;
};

template <typename T>
__device__ __forceinline__ T warp_max(T v) {
  for (int o = 16; o > 0; o >>= 1) v = max(v, __shfl_xor_sync(0xffffffff, v, o, 32));
  return v;
}

template <typename T>
__device__ __forceinline__ T warp_sum(T v) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o, 32);
  return v;
}

// Over the middle axis.
__global__ void softmax_axis(SoftmaxParams p) {
  __shared__ float parts[2][4];
  const int outer = blockIdx.x / p.inner, column = blockIdx.x % p.inner;
  const int first = outer * p.channels * p.inner + column;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float top = -FLT_MAX;
  for (int c = threadIdx.x; c < p.channels; c += blockDim.x) top = max(top, p.src[first + c * p.inner]);
  top = warp_max(top);
  if (lane == 0) parts[0][warp] = top;
  __syncthreads();
  switch (warp) {
    case 0:
      top = lane < 4 ? parts[0][lane] : -FLT_MAX;
      top = warp_max(top);
      if (lane == 0) parts[0][0] = top;
      break;
    default:
      break;
  }
  __syncthreads();
  top = parts[0][0];
  float total = 0.f;
  for (int c = threadIdx.x; c < p.channels; c += blockDim.x) total += __expf(p.src[first + c * p.inner] - top);
  total = warp_sum(total);
  if (lane == 0) parts[1][warp] = total;
  __syncthreads();
  total = parts[1][0] + parts[1][1] + parts[1][2] + parts[1][3];
  for (int c = threadIdx.x; c < p.channels; c += blockDim.x)
    p.dst[first + c * p.inner] = __expf(p.src[first + c * p.inner] - top) / total;
}
