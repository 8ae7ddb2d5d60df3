// One by one, images as rows of pixels, SiLU, and the sum with what was there before.
// buffers: X f32 in [N, C, P], F f32 in [K, C], B f32 in [K], Y f32 inout [N, K, P]
// sizes: N=2 C=13 K=4 P=99; N=1 C=9 K=17 P=64; N=3 C=2 K=3 P=5
// evo:launch pointwise(X, F, B, Y, u32(C), u32(K), u32(P)) grid(ceil_div(P, 128), N, K) block(128)
__global__ void pointwise(const float* __restrict__ in, const float* __restrict__ w, const float* __restrict__ bias,
                          float* __restrict__ out, unsigned c_in, unsigned c_out, unsigned pixels) {
  const unsigned px = blockIdx.x * blockDim.x + threadIdx.x;
  if (px >= pixels) return;
  const float* src = in + blockIdx.y * c_in * pixels + px;
  const float* row = w + blockIdx.z * c_in;
  float acc = bias[blockIdx.z];
  for (unsigned c = 0; c < c_in; ++c) {
    acc += *src * row[c];
    src += pixels;
  }
  const float act = acc / (1.f + expf(-acc));
  out[(blockIdx.y * c_out + blockIdx.z) * pixels + px] += act;
}
