// evo:launch gram_reference(U, V, G, P, Q, K) grid(ceil_div(Q, 16), ceil_div(P, 16)) block(16, 16)
__global__ void gram_reference(const unsigned char* U, const unsigned char* V, double* G, int P, int Q, int K) {
  const int q = blockIdx.x * blockDim.x + threadIdx.x, p = blockIdx.y * blockDim.y + threadIdx.y;
  if (p >= P || q >= Q) return;
  long long sum = 0;
  for (int k = 0; k < K; ++k) sum += int(U[p * K + k]) * int(V[q * K + k]);
  G[p * Q + q] = double(sum);
}
