// buffers: X f32 in [N, 2 * D], Y f32 out [N, D]
// sizes: N=1 D=1; N=13 D=30; N=9 D=256
// evo:launch silu_and_mul_kernel<float>(Y, X, D) grid(N) block(min(D, 64))

template <typename T>
__device__ __forceinline__ T silu(const T& x) {
  return (T)(((float)x) / (1.0f + expf((float)-x)));
}

template <typename scalar_t>
__global__ void silu_and_mul_kernel(scalar_t* __restrict__ out, const scalar_t* __restrict__ input, const int d) {
  const long long token_idx = blockIdx.x;
  for (long long idx = threadIdx.x; idx < d; idx += blockDim.x) {
    const scalar_t x = __ldg(&input[token_idx * 2 * d + idx]);
    const scalar_t y = __ldg(&input[token_idx * 2 * d + d + idx]);
    out[token_idx * d + idx] = silu(x) * y;
  }
}
