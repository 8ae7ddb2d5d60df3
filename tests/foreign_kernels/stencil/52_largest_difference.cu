// buffers: A f32 in [h, w], B f32 inout [h, w], E f32 out [1]
// sizes: h=9 w=11; h=40 w=70
// evo:memset E 0
// evo:launch step(B, A, h, w, E) grid(ceil_div(w, 32), ceil_div(h, 4)) block(32, 4)

__device__ float atomicMaxF(float* a, float v) { return __int_as_float(atomicMax((int*)a, __float_as_int(v))); }

// The largest difference is a result, too.
__global__ void step(float* const next, const float* const last, int h, int w, float* err) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  float e = 0;
  if (x < w - 1 && y < h - 1) {
    float v = 0.25f * (last[y * w + x + 1] + last[y * w + x - 1] + last[(y + 1) * w + x] + last[(y - 1) * w + x]);
    next[y * w + x] = v;
    e = fabsf(v - last[y * w + x]);
  }
  for (int o = 16; o > 0; o >>= 1) e = fmaxf(e, __shfl_down_sync(0xffffffff, e, o));
  if ((threadIdx.x + threadIdx.y * blockDim.x) % 32 == 0) atomicMaxF(err, e);
}
