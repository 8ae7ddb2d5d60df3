// Floats, one flat index for batch, head and row, a macro for indices, scores in an array of the thread.
// buffers: Q f32 in [B, H, T, 16], K f32 in [B, H, T, 16], V f32 in [B, H, T, 16], O f32 out [B, H, T, 16]
// sizes: B=1 H=2 T=40; B=2 H=1 T=7
#define MAX_T 512
#define C 16
#define AT(p, b, h, t, c) p[(((b) * nh + (h)) * len + (t)) * C + (c)]

// evo:launch sdpa(Q, K, V, O, B, H, T) grid(ceil_div(B * H * T, 128)) block(128)
__global__ void sdpa(const float* q, const float* k, const float* v, float* o, int nb, int nh, int len) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= nb * nh * len) return;
  int t = idx % len;
  int h = (idx / len) % nh;
  int b = idx / (len * nh);
  float s[MAX_T];
  float mx = -1e9f;
  for (int j = 0; j < len; ++j) {
    float dot = 0;
    for (int c = 0; c < C; ++c) dot += AT(q, b, h, t, c) * AT(k, b, h, j, c);
    s[j] = dot * 0.25f;
    if (s[j] > mx) mx = s[j];
  }
  float sum = 0;
  for (int j = 0; j < len; ++j) {
    s[j] = expf(s[j] - mx);
    sum += s[j];
  }
  for (int c = 0; c < C; ++c) {
    float r = 0;
    for (int j = 0; j < len; ++j) r += s[j] / sum * AT(v, b, h, j, c);
    AT(o, b, h, t, c) = r;
  }
}
