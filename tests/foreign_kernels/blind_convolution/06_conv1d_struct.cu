// One-dimensional convolution of an audio model: parameters in a struct, one block a channel of a sample, threads along time.
// buffers: x f32 in [B, CI, T], w f32 in [CO, CI, 7], bias f32 in [CO], y f32 out [B, CO, OT]
// sizes: B=2 CI=3 CO=4 T=50 OT=25; B=1 CI=5 CO=3 T=201 OT=101; B=1 CI=1 CO=1 T=4 OT=2
struct Conv1dParams {
  int batch;
  int in_channels;
  int out_channels;
  int in_length;
  int out_length;
  int kernel;
  int stride;
  int padding;
};

__global__ void conv1d_kernel(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias,
                              float* __restrict__ y, Conv1dParams p) {
  const int b = blockIdx.y;
  const int oc = blockIdx.x;
  const float* xb = x + b * p.in_channels * p.in_length;
  const float* wo = w + oc * p.in_channels * p.kernel;
  float* yo = y + (b * p.out_channels + oc) * p.out_length;
  const float b0 = bias != nullptr ? bias[oc] : 0.0f;
  for (int t = threadIdx.x; t < p.out_length; t += blockDim.x) {
    const int start = t * p.stride - p.padding;
    float acc = b0;
    for (int ic = 0; ic < p.in_channels; ++ic) {
      for (int k = 0; k < p.kernel; ++k) {
        const int pos = start + k;
        if (pos >= 0 && pos < p.in_length) acc += xb[ic * p.in_length + pos] * wo[ic * p.kernel + k];
      }
    }
    yo[t] = fmaxf(acc, 0.0f);
  }
}
// evo:launch conv1d_kernel(x, w, bias, y, {B, CI, CO, T, OT, 7, 2, 3}) grid(CO, B) block(64)
