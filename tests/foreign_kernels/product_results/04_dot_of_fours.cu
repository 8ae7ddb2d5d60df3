// Four products at a time are added up before they join the sum; batches along z.
// buffers: p f32 in [heads, rows, depth], q f32 in [heads, cols, depth], s f32 out [heads, rows, cols]
// sizes: heads=3 rows=18 cols=21 depth=16; heads=2 rows=33 cols=16 depth=44

// evo:launch scores(p, q, s, rows, cols, depth, f32(0.25)) grid(ceil_div(cols, 8), ceil_div(rows, 8), heads) block(8, 8)
__global__ void scores(const float* p, const float* q, float* s, int rows, int cols, int depth, float scale) {
  const int c = blockIdx.x * 8 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
  if (r >= rows || c >= cols) return;
  const float4* a = (const float4*)(p + (blockIdx.z * rows + r) * depth);
  const float4* b = (const float4*)(q + (blockIdx.z * cols + c) * depth);
  float s0 = 0.f, s1 = 0.f;
  for (int i = 0; i < depth / 4; ++i) {
    const float4 u = a[i], v = b[i];
    s0 += u.x * v.x + u.y * v.y;
    s1 += u.z * v.z + u.w * v.w;
  }
  s[(blockIdx.z * rows + r) * cols + c] = (s0 + s1) * scale;
}
