// As in an extension of a framework: a template over the type of the elements, a batch in blockIdx.z, strides of 64 bits.
// buffers: A f16 in [B, M, K], W f16 in [B, K, N], C f16 out [B, M, N]
// sizes: B=2 M=33 N=24 K=40; B=3 M=16 N=8 K=8
#include <cuda_fp16.h>

// evo:launch bmm_forward_kernel<__half>(A, W, C, M, N, K, i64(M * K), i64(K * N), i64(M * N)) \
//   grid(ceil_div(N, 32), ceil_div(M, 8), B) block(32, 8)
template <typename scalar_t>
__global__ void bmm_forward_kernel(const scalar_t* __restrict__ a, const scalar_t* __restrict__ b, scalar_t* __restrict__ c,
                                   const int m, const int n, const int k, const long long stride_a, const long long stride_b,
                                   const long long stride_c) {
  const int batch = blockIdx.z;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;

  const scalar_t* a_batch = a + batch * stride_a;
  const scalar_t* b_batch = b + batch * stride_b;
  float acc = 0.0f;
  for (int i = 0; i < k; ++i) {
    acc += static_cast<float>(a_batch[row * k + i]) * static_cast<float>(b_batch[i * n + col]);
  }
  c[batch * stride_c + row * n + col] = static_cast<scalar_t>(acc);
}
