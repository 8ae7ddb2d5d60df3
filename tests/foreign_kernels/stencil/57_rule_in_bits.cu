// A cellular automaton on a torus whose rule is two words of bits in a struct.
// buffers: A u8<2 in [H, W], B u8<2 out [H, W]
// sizes: H=5 W=6; H=13 W=12; H=40 W=130
// evo:launch step(A, B, W, H, {u16(8), u16(12)}) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)
struct Rule {
  unsigned short birth, survive;
};

__global__ void step(const unsigned char* src, unsigned char* dst, int w, int h, Rule rule) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int n = 0;
  for (int oy = -1; oy <= 1; ++oy)
    for (int ox = -1; ox <= 1; ++ox) {
      if (ox == 0 && oy == 0) continue;
      int sx = (x + ox + w) % w;
      int sy = (y + oy + h) % h;
      n += src[sy * w + sx];
    }
  unsigned short mask = src[y * w + x] ? rule.survive : rule.birth;
  dst[y * w + x] = (mask >> n) & 1;
}
