// Before an inference: bytes of an interleaved picture become planes of floats with mean and deviation, red and blue exchanged.
// buffers: src u8<256 in [H, W, 3], dst f32 out [3, H, W]
// sizes: H=1 W=1; H=13 W=20; H=40 W=128
struct Channels {
  float blue, green, red;
};

__device__ Channels load_pixel(const unsigned char* p) {
  Channels c;
  c.blue = p[0];
  c.green = p[1];
  c.red = p[2];
  return c;
}

__global__ void to_planes(const unsigned char* src, float* dst, int width, int height, float mean_r, float mean_g, float mean_b,
                          float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int area = width * height;
  if (i >= area) return;
  const Channels c = load_pixel(src + 3 * i);
  float* out = dst + i;
  *out = c.red * scale - mean_r;
  *(out + area) = c.green * scale - mean_g;
  *(out + 2 * area) = c.blue * scale - mean_b;
}
// evo:launch to_planes(src, dst, W, H, f32(0.485), f32(0.456), f32(0.406), f32(0.0039)) grid(ceil_div(W * H, 256)) block(256)
