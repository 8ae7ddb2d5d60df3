// A step that also adds up how much changed, takes the largest change, and raises a flag.
// buffers: A f32 in [H, W], B f32 inout [H, W], most i32<5 inout [1], changed i32<2 inout [1]
// sizes: H=1 W=1; H=13 W=12; H=40 W=130
// evo:launch step(A, B, W, H, most, changed) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)

__global__ void step(const float* a, float* b, int w, int h, int* most, int* changed) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  int i = y * w + x;
  float v = 0.25f * (a[i - 1] + a[i + 1] + a[i - w] + a[i + w]);
  b[i] = v;
  float d = fabsf(v - a[i]);
  atomicMax(most, __float_as_int(d));
  if (d > 0.5f) *changed = 1;
}
