// evo:launch reference(mat, vec, out, N, M) grid(ceil_div(N, 64)) block(64)
#include <cuda_fp16.h>
__global__ void reference(const half* mat, const half* vec, double* out, int n, int m) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  double sum = 0;
  for (int i = 0; i < m; ++i) sum += double(__half2float(mat[row * m + i])) * double(__half2float(vec[i]));
  out[row] = sum;
}
