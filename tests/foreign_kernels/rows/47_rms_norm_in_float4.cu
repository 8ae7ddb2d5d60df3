// buffers: X f32 in [M, N], G f32 in [N], Y f32 out [M, N]
// sizes: M=1 N=4; M=5 N=516; M=3 N=2052
// evo:launch rms_norm_vectors(X, G, Y, N) grid(M) block(64)

template <int kThreads>
__device__ float add_up(float value, float* parts) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = value;
  __syncthreads();
  value = 0.0f;
#pragma unroll
  for (int w = 0; w < kThreads / 32; ++w) value += parts[w];
  return value;
}

// Rows of a number of elements that four divides.
__global__ void rms_norm_vectors(const float* __restrict__ x, const float* __restrict__ gamma, float* __restrict__ y, int n) {
  __shared__ float parts[2];
  const float4* row = reinterpret_cast<const float4*>(x + blockIdx.x * n);
  float squares = 0.0f;
  for (int i = threadIdx.x; i < n / 4; i += 64) {
    const float4 v = row[i];
    squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  const float scale = rsqrtf(add_up<64>(squares, parts) / n + 1e-6f);
  for (int i = threadIdx.x; i < n / 4; i += 64) {
    const float4 v = row[i], g = reinterpret_cast<const float4*>(gamma)[i];
    float4 out;
    out.x = v.x * scale * g.x;
    out.y = v.y * scale * g.y;
    out.z = v.z * scale * g.z;
    out.w = v.w * scale * g.w;
    reinterpret_cast<float4*>(y + blockIdx.x * n)[i] = out;
  }
}
