// buffers: Q f32 in [H, N, 16], K f32 in [H, N, 16], V f32 in [H, N, 16], O f32 out [H, N, 16]
// sizes: H=1 N=1; H=2 N=37; H=3 N=70
// evo:launch attend_row<16>({Q, K, V, O, N}) grid(N, H) block(32) shared(N * 4)

struct AttentionParams {
  const float *q, *k, *v;
  float* out;
  int length;
};

// A block has a query; its threads share the keys.
template <int kDepth>
__global__ void attend_row(AttentionParams p) {
  extern __shared__ float weights[];
  __shared__ float sum, result[kDepth];
  const int row = blockIdx.x, head = blockIdx.y, n = p.length;
  const float* q = p.q + (head * n + row) * kDepth;
  if (threadIdx.x == 0) sum = 0.0f;
  if (threadIdx.x < kDepth) result[threadIdx.x] = 0.0f;
  __syncthreads();
  float top = -INFINITY;
  for (int j = threadIdx.x; j <= row; j += blockDim.x) {
    float dot = 0.0f;
    for (int d = 0; d < kDepth; ++d) dot += q[d] * p.k[(head * n + j) * kDepth + d];
    weights[j] = dot * rsqrtf((float)kDepth);
    top = fmaxf(top, weights[j]);
  }
  for (int o = 16; o > 0; o /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, o));
  for (int j = threadIdx.x; j <= row; j += blockDim.x) {
    weights[j] = expf(weights[j] - top);
    atomicAdd(&sum, weights[j]);
    for (int d = 0; d < kDepth; ++d) atomicAdd(&result[d], weights[j] * p.v[(head * n + j) * kDepth + d]);
  }
  __syncthreads();
  if (threadIdx.x < kDepth) p.out[(head * n + row) * kDepth + threadIdx.x] = result[threadIdx.x] / sum;
}
