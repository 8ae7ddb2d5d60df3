// Written together with what it needs. Queries, keys and values one after the other in one buffer, floats, three passes.
// buffers: qkv f32 in [3, B, H, N, 32], out f32 out [B, H, N, 32]
// sizes: B=1 H=2 N=37; B=2 H=1 N=5
#define D 32

// evo:launch planes_attention(qkv, out, B, H, N, f32(0.2)) grid(ceil_div(N, 64), B * H) block(64)
__global__ void planes_attention(const float* __restrict__ qkv, float* __restrict__ out, int B, int H, int N, float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  const size_t plane = (size_t)B * H * N * D, head = (size_t)blockIdx.y * N * D;
  const float* q = qkv + head + (size_t)i * D;
  const float* k = qkv + plane + head;
  const float* v = qkv + 2 * plane + head;
  float most = -INFINITY;
  for (int j = 0; j < N; ++j) {
    float s = 0.0f;
    for (int d = 0; d < D; ++d) s += q[d] * k[(size_t)j * D + d];
    most = fmaxf(most, s * scale);
  }
  float weights = 0.0f, sums[D];
  for (int d = 0; d < D; ++d) sums[d] = 0.0f;
  for (int j = 0; j < N; ++j) {
    float s = 0.0f;
    for (int d = 0; d < D; ++d) s += q[d] * k[(size_t)j * D + d];
    const float w = expf(s * scale - most);
    weights += w;
    for (int d = 0; d < D; ++d) sums[d] += w * v[(size_t)j * D + d];
  }
  for (int d = 0; d < D; ++d) out[head + (size_t)i * D + d] = sums[d] / weights;
}
