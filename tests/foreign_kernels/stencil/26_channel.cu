// buffers: T f32 in [H, W], V f32 in [H, W], T2 f32 out [H, W]
// sizes: H=2 W=3; H=13 W=12; H=40 W=130
// evo:launch channel(T, V, T2, W, H) grid(ceil_div(W, 64), H) block(64)

__device__ inline int wrap(int i, int n) { return i < 0 ? i + n : i >= n ? i - n : i; }

// What flows out on the right comes in on the left; above and below are walls.
__global__ void channel(const float* __restrict__ t, const float* __restrict__ v, float* __restrict__ t2, int w, int h) {
  const int i = blockIdx.x * 64 + threadIdx.x, j = blockIdx.y;
  if (i >= w) return;
  const int above = max(j - 1, 0), below = min(j + 1, h - 1);
  const float flow = t[j * w + wrap(i - 2, w)] - 4.0f * t[j * w + wrap(i - 1, w)] + 3.0f * t[j * w + i];
  const float spread = t[above * w + i] + t[below * w + i] + t[j * w + wrap(i + 1, w)] - 3.0f * t[j * w + i];
  t2[j * w + i] = t[j * w + i] - 0.1f * v[j * w + i] * flow + 0.05f * spread;
}
