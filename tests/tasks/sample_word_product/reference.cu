// evo:launch word_reference(A, B, C, M, N, W) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void word_reference(const int* A, const int* B, double* C, int M, int N, int W) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * blockDim.y + threadIdx.y;
  if (m >= M || n >= N) return;
  const signed char* a = reinterpret_cast<const signed char*>(A + m * W);
  const signed char* b = reinterpret_cast<const signed char*>(B + n * W);
  long long sum = 0;
  for (int k = 0; k < 4 * W; ++k) sum += int(a[k]) * int(b[k]);
  C[m * N + n] = double(sum > 0 ? sum : 0);
}
