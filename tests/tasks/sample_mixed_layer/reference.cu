// evo:launch mixed_layer_reference(X, W, bias, Y, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void mixed_layer_reference(const unsigned char* X, const signed char* W, const int* bias, double* Y, int M, int N, int K) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * blockDim.y + threadIdx.y;
  if (m >= M || n >= N) return;
  long long sum = 0;
  for (int k = 0; k < K; ++k) sum += int(X[m * K + k]) * int(W[n * K + k]);
  const long long q = (sum >> 6) + bias[n];
  Y[m * N + n] = double(q < -32768 ? -32768 : q > 32767 ? 32767 : q);
}
