// A batch of products by strides, op(B) transposed or not as an argument of the template; half in, float sums, half out.
// buffers: A f16 in [BATCH, M, K], B f16 in [BATCH, N, K], C f16 inout [BATCH, M, N]
// sizes: BATCH=2 M=37 N=21 K=40; BATCH=1 M=16 N=64 K=32; BATCH=3 M=3 N=2 K=5
#include <cuda_fp16.h>

namespace {

constexpr int kTile = 16;

template <typename T>
__device__ __forceinline__ float to_float(T x) {
  return static_cast<float>(x);
}
template <>
__device__ __forceinline__ float to_float<__half>(__half x) {
  return __half2float(x);
}

}  // namespace

// evo:launch gemm_strided_batched<__half, true>(A, i64(M * K), K, B, i64(N * K), K, C, i64(M * N), N, M, N, K, f32(0.5), f32(1.0)) \
//   grid(ceil_div(N, 16), ceil_div(M, 16), BATCH) block(16, 16)
template <typename T, bool kTransposeB>
__global__ void gemm_strided_batched(const T* __restrict__ A, long long stride_a, int lda, const T* __restrict__ B,
                                     long long stride_b, int ldb, T* __restrict__ C, long long stride_c, int ldc, int M, int N,
                                     int K, float alpha, float beta) {
  __shared__ float tile_a[kTile][kTile + 1];
  __shared__ float tile_b[kTile][kTile + 1];

  const T* a = A + blockIdx.z * stride_a;
  const T* b = B + blockIdx.z * stride_b;
  T* c = C + blockIdx.z * stride_c;

  const int row0 = blockIdx.y * kTile;
  const int col0 = blockIdx.x * kTile;
  const int row = row0 + threadIdx.y;
  const int col = col0 + threadIdx.x;

  float acc = 0.f;
  for (int k0 = 0; k0 < K; k0 += kTile) {
    tile_a[threadIdx.y][threadIdx.x] =
        (row < M && k0 + threadIdx.x < K) ? to_float(a[row * lda + k0 + threadIdx.x]) : 0.f;
    if (kTransposeB) {
      const int n = col0 + threadIdx.y;
      tile_b[threadIdx.x][threadIdx.y] = (n < N && k0 + threadIdx.x < K) ? to_float(b[n * ldb + k0 + threadIdx.x]) : 0.f;
    } else {
      const int k = k0 + threadIdx.y;
      tile_b[threadIdx.y][threadIdx.x] = (k < K && col < N) ? to_float(b[k * ldb + col]) : 0.f;
    }
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < kTile; ++kk) acc += tile_a[threadIdx.y][kk] * tile_b[kk][threadIdx.x];
    __syncthreads();
  }

  if (row < M && col < N) {
    const int at = row * ldc + col;
    c[at] = __float2half(alpha * acc + beta * to_float(c[at]));
  }
}
