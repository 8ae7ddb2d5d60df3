// Written together with what it needs. A window and a bias that grows with the distance, both numbers of the code; floats.
// buffers: q f32 in [H, N, 32], k f32 in [H, N, 32], v f32 in [H, N, 32], o f32 out [H, N, 32]
// sizes: H=1 N=90; H=2 N=7
#define DIM 32
#define WINDOW 12
#define FALL 0.25f

// evo:launch local_slopes(q, k, v, o, N, f32(0.2)) grid(ceil_div(N, 32), H) block(32)
__global__ void local_slopes(const float* q, const float* k, const float* v, float* o, int n, float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int head = blockIdx.y * n * DIM;
  const int first = i < WINDOW ? 0 : i - WINDOW + 1;
  float top = -INFINITY, z = 0.0f, acc[DIM] = {};
  for (int j = first; j <= i; ++j) {
    float s = 0.0f;
    for (int d = 0; d < DIM; ++d) s += q[head + i * DIM + d] * k[head + j * DIM + d];
    s = s * scale - FALL * (i - j);
    const float next = fmaxf(top, s), fade = expf(top - next), w = expf(s - next);
    z = z * fade + w;
    for (int d = 0; d < DIM; ++d) acc[d] = acc[d] * fade + w * v[head + j * DIM + d];
    top = next;
  }
  for (int d = 0; d < DIM; ++d) o[head + i * DIM + d] = acc[d] / z;
}
