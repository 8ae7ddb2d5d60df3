// Along sequences: a size of filters that is a parameter, half of it as padding, a bias and a lower bound.
// buffers: X f32 in [N, C, L], F f32 in [K, C, R], B f32 in [K], Y f32 out [N, K, L]
// sizes: N=2 C=13 K=4 L=40 R=3; N=1 C=9 K=2 L=67 R=5; N=3 C=2 K=3 L=4 R=7
// evo:launch conv1d_relu(X, F, B, Y, N, C, K, L, R) grid(ceil_div(N * K * L, 128)) block(128)
__global__ void conv1d_relu(const float* signal, const float* weight, const float* bias, float* out, int batch, int in_channels,
                            int out_channels, int length, int kernel_size) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= batch * out_channels * length) return;
  int pos = idx % length;
  int oc = (idx / length) % out_channels;
  int b = idx / (length * out_channels);
  int padding = (kernel_size - 1) / 2;
  float acc = 0.0f;
  for (int ic = 0; ic < in_channels; ic++) {
    for (int k = 0; k < kernel_size; k++) {
      int at = pos - padding + k;
      if (at >= 0 && at < length)
        acc += signal[(b * in_channels + ic) * length + at] * weight[(oc * in_channels + ic) * kernel_size + k];
    }
  }
  acc += bias[oc];
  out[idx] = acc > 0.0f ? acc : 0.0f;
}
