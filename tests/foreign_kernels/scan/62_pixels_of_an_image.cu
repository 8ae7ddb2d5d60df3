// Running sums over all pixels of an image.
// buffers: A f32 in [H, W], S f32 out [H, W]
// sizes: H=1 W=1; H=3 W=37; H=70 W=73
// evo:workspace ends f32 [ceil_div(H * W, 128)]
// evo:launch sections(A, S, ends, H * W) grid(ceil_div(H * W, 128)) block(128)
// evo:launch ends_before(ends, ceil_div(H * W, 128)) grid(1) block(1)
// evo:launch add_before(S, ends, H * W) grid(ceil_div(H * W, 128)) block(128)

__global__ void sections(const float* a, float* s, float* ends, int pixels) {
  __shared__ float half[2][128];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  int now = 0;
  half[0][t] = i < pixels ? a[i] : 0.0f;
  __syncthreads();
  for (int d = 1; d < 128; d <<= 1) {
    half[1 - now][t] = t >= d ? half[now][t] + half[now][t - d] : half[now][t];
    now = 1 - now;
    __syncthreads();
  }
  if (i < pixels) s[i] = half[now][t];
  if (t == 127) ends[blockIdx.x] = half[now][t];
}

__global__ void ends_before(float* ends, int sections) {
  float before = 0;
  for (int b = 0; b < sections; ++b) {
    const float own = ends[b];
    ends[b] = before;
    before += own;
  }
}

__global__ void add_before(float* s, const float* ends, int pixels) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < pixels) s[i] += ends[blockIdx.x];
}
