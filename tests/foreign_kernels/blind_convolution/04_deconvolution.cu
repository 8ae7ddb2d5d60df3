// Upsampling layer of a segmentation network: each output gathers the inputs that reach it.
// buffers: in f32 in [N, CI, H, W], weight f32 in [CI, CO, 4, 4], bias f32 in [CO], out f32 out [N, CO, 2 * H, 2 * W]
// sizes: N=1 CI=3 CO=4 H=5 W=7; N=2 CI=2 CO=3 H=4 W=12; N=1 CI=1 CO=1 H=1 W=1
__global__ void conv_transpose2d(const float* __restrict__ in, const float* __restrict__ weight, const float* __restrict__ bias,
                                 float* __restrict__ out, int batch, int in_c, int out_c, int in_h, int in_w, int k, int stride,
                                 int pad) {
  const int out_h = (in_h - 1) * stride - 2 * pad + k;
  const int out_w = (in_w - 1) * stride - 2 * pad + k;
  const int ox = blockIdx.x * blockDim.x + threadIdx.x;
  const int oy = blockIdx.y * blockDim.y + threadIdx.y;
  const int oc = blockIdx.z % out_c;
  const int b = blockIdx.z / out_c;
  if (ox < out_w && oy < out_h) {
    float sum = bias[oc];
    for (int ic = 0; ic < in_c; ++ic) {
      for (int ky = 0; ky < k; ++ky) {
        const int ty = oy + pad - ky;
        if (ty < 0 || ty % stride != 0) continue;
        const int iy = ty / stride;
        if (iy >= in_h) continue;
        for (int kx = 0; kx < k; ++kx) {
          const int tx = ox + pad - kx;
          if (tx < 0 || tx % stride != 0) continue;
          const int ix = tx / stride;
          if (ix >= in_w) continue;
          sum += in[((b * in_c + ic) * in_h + iy) * in_w + ix] * weight[((ic * out_c + oc) * k + ky) * k + kx];
        }
      }
    }
    out[((b * out_c + oc) * out_h + oy) * out_w + ox] = sum;
  }
}
// evo:launch conv_transpose2d(in, weight, bias, out, N, CI, CO, H, W, 4, 2, 1) grid(ceil_div(2 * W, 16), ceil_div(2 * H, 16), N * CO) block(16, 16)
