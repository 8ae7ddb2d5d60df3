// One warp an element, lanes along k.
// buffers: A f32 in [M, K], B f32 in [N, K], C f32 out [M, N]
// sizes: M=7 N=9 K=40; M=5 N=6 K=64
// evo:launch warp_gemm(A, B, C, M, N, K) grid(ceil_div(M * N, 4)) block(128)
__global__ void warp_gemm(const float* A, const float* B, float* C, int M, int N, int K) {
  int w = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (w >= M * N) return;
  int r = w / N, c = w % N;
  float s = 0.f;
  for (int k = lane; k < K; k += 32) s += A[r * K + k] * B[c * K + k];
  for (int o = 16; o > 0; o >>= 1) s += __shfl_down_sync(0xffffffff, s, o);
  if (lane == 0) C[w] = s;
}
