// A product launched twice, keys transposed before it; rows of values have other lengths than those of keys.
// buffers: Q f32 in [M, dk], K f32 in [N, dk], V f32 in [N, dv], O f32 out [M, dv]
// sizes: M=20 N=33 dk=16 dv=40; M=50 N=7 dk=48 dv=9
// evo:workspace Kt f32 [dk, N]
// evo:workspace S f32 [M, N]
// evo:launch transpose(K, Kt, N, dk) grid(ceil_div(dk, 16), ceil_div(N, 16)) block(16, 16)
// evo:launch matmul(Q, Kt, S, M, N, dk) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
// evo:launch softmax(S, M, N) grid(ceil_div(M, 128)) block(128)
// evo:launch matmul(S, V, O, M, dv, N) grid(ceil_div(dv, 16), ceil_div(M, 16)) block(16, 16)
#include <math.h>

__global__ void transpose(const float* in, float* out, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols) out[c * rows + r] = in[r * cols + c];
}
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float sA[16][16], sB[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  float acc = 0;
  for (int t = 0; t < K; t += 16) {
    sA[threadIdx.y][threadIdx.x] = row < M && t + threadIdx.x < K ? A[row * K + t + threadIdx.x] : 0.f;
    sB[threadIdx.y][threadIdx.x] = col < N && t + threadIdx.y < K ? B[(t + threadIdx.y) * N + col] : 0.f;
    __syncthreads();
    for (int k = 0; k < 16; k++) acc += sA[threadIdx.y][k] * sB[k][threadIdx.x];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = acc;
}
__global__ void softmax(float* x, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float mx = -1e20f, sum = 0;
  for (int c = 0; c < cols; c++) mx = fmaxf(mx, x[r * cols + c]);
  for (int c = 0; c < cols; c++) { x[r * cols + c] = expf(x[r * cols + c] - mx); sum += x[r * cols + c]; }
  for (int c = 0; c < cols; c++) x[r * cols + c] /= sum;
}
