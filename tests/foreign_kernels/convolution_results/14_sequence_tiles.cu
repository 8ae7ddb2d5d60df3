// A layer along time with its tile in shared memory, loaded in strides by the whole block; several channels, bias and GELU.
// buffers: seq f32 in [B, C, T], ker f32 in [K, C, 5], bias f32 in [K], res f32 out [B, K, T]
// sizes: B=2 C=3 T=50 K=2; B=1 C=2 T=131 K=3; B=1 C=1 T=3 K=1
#define BLOCK 64
// evo:launch conv_time(seq, ker, bias, res, C, K, T) grid(ceil_div(T, 64), K, B) block(64)
__global__ void conv_time(const float* seq, const float* ker, const float* bias, float* res, int C, int K, int T) {
  __shared__ float tile[BLOCK + 4];
  const int first = blockIdx.x * BLOCK, t = first + threadIdx.x, k = blockIdx.y, b = blockIdx.z;
  float sum = bias[k];
  for (int c = 0; c < C; ++c) {
    for (int i = threadIdx.x; i < BLOCK + 4; i += blockDim.x) {
      const int at = first + i - 2;
      tile[i] = at < 0 || at >= T ? 0.0f : seq[(b * C + c) * T + at];
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 5; ++j) sum += tile[threadIdx.x + j] * ker[(k * C + c) * 5 + j];
    __syncthreads();
  }
  if (t < T) res[(b * K + k) * T + t] = 0.5f * sum * (1.0f + erff(sum * 0.70710678f));
}
