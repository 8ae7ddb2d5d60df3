// A bias [H, N, M] is added to the scores, as the relative positions of T5. Online softmax, floats.
// buffers: q f32 in [B, H, N, 16], k f32 in [B, H, M, 16], v f32 in [B, H, M, 16], bias f32 in [H, N, M], y f32 out [B, H, N, 16]
// sizes: B=2 H=2 N=21 M=34; B=1 H=3 N=7 M=5
constexpr unsigned DIM = 16;

// evo:launch biased_attention(q, k, v, bias, y, N, M, H) grid(ceil_div(N, 32), B * H) block(32)
__global__ void biased_attention(const float* q, const float* k, const float* v, const float* bias, float* y, int n_rows,
                                 int n_keys, int n_heads) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  const int bh = blockIdx.y;
  if (r >= n_rows) return;
  float reg[DIM];
  for (unsigned i = 0; i < DIM; ++i) reg[i] = q[((long long)bh * n_rows + r) * DIM + i];
  const float* b = bias + ((long long)(bh % n_heads) * n_rows + r) * n_keys;
  float hi = -INFINITY, z = 0.0f, sum[DIM] = {};
  for (int c = 0; c < n_keys; ++c) {
    float s = b[c];
    for (unsigned i = 0; i < DIM; ++i) s += reg[i] * k[((long long)bh * n_keys + c) * DIM + i];
    const float up = fmaxf(hi, s);
    const float old = expf(hi - up), now = expf(s - up);
    z = z * old + now;
    for (unsigned i = 0; i < DIM; ++i) sum[i] = sum[i] * old + now * v[((long long)bh * n_keys + c) * DIM + i];
    hi = up;
  }
  for (unsigned i = 0; i < DIM; ++i) y[((long long)bh * n_rows + r) * DIM + i] = sum[i] / z;
}
