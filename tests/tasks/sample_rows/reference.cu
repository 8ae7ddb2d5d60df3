// evo:launch reference(A, out, N, M) grid(ceil_div(N, 64)) block(64)
__global__ void reference(const float* A, double* out, int n, int m) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double sum = 0;
  for (int j = 0; j < m; ++j) sum += fabs(double(A[i * m + j]));
  out[i] = sum;
}
