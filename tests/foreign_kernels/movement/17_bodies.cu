// buffers: P f32 in [N, 4], A f32 out [N, 4]
// sizes: N=1; N=70; N=200
// evo:launch forces(P, A, N) grid(ceil_div(N, 64)) block(64)
#define SOFTENING 0.01f

__device__ float3 pull(float4 bi, float4 bj, float3 ai) {
  float3 r = make_float3(bj.x - bi.x, bj.y - bi.y, bj.z - bi.z);
  float d2 = r.x * r.x + r.y * r.y + r.z * r.z + SOFTENING;
  float inv = rsqrtf(d2);
  float s = bj.w * inv * inv * inv;
  ai.x += r.x * s;
  ai.y += r.y * s;
  ai.z += r.z * s;
  return ai;
}

__global__ void forces(const float4* __restrict__ body, float4* __restrict__ accel, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 mine = body[i];
  float3 a = {0.0f, 0.0f, 0.0f};
  for (int j = 0; j < n; j++) a = pull(mine, body[j], a);
  accel[i] = make_float4(a.x, a.y, a.z, 0.0f);
}
