// A product with its own transpose: the upper half, by a view, a lambda that copies, and a return below the diagonal.
// buffers: X f32 in [D, S], C f32 inout [D, D]
// sizes: D=33 S=40; D=64 S=16; D=5 S=3
struct RowMajor {
  const float* data;
  int stride;
  __device__ float operator()(int r, int c) const { return data[r * stride + c]; }
};

// evo:launch gram(X, C, D, S) grid(ceil_div(D, 16), ceil_div(D, 16)) block(16, 16)
__global__ void gram(const float* x, float* c, int d, int s) {
  const RowMajor rows{x, s};
  auto at = [=](int i, int j) { return i * d + j; };
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= d || col >= d) return;
  if (col < row) return;
  float sum = 0;
  for (int k = 0; k < s; k++) sum += rows(row, k) * rows(col, k);
  c[at(row, col)] = 0.5f * sum;
}
