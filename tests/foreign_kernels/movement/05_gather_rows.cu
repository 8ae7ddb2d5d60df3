// buffers: T f32 in [50, D], I i32<50 in [N], Y f32 out [N, D]
// sizes: N=1 D=1; N=30 D=20; N=100 D=64
// evo:launch index_select<float, int>(T, I, Y, i64(D), i64(N * D)) grid(ceil_div(N * D, 256)) block(256)

template <typename scalar_t, typename index_t>
__global__ void index_select(const scalar_t* __restrict__ table, const index_t* __restrict__ indices,
                             scalar_t* __restrict__ output, const long long dim, const long long total) {
  const long long idx = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (idx >= total) return;
  const long long row = idx / dim;
  const long long col = idx - row * dim;
  output[idx] = table[indices[row] * dim + col];
}
