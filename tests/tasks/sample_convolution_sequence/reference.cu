// evo:launch reference(X, F, B, Y, C, K, L) grid(ceil_div(L, 64), K, N) block(64)
__global__ void reference(const float* X, const float* F, const float* B, double* Y, int channels, int filters, int length) {
  const int place = blockIdx.x * blockDim.x + threadIdx.x;
  if (place >= length) return;
  double sum = double(B[blockIdx.y]);
  for (int c = 0; c < channels; ++c) {
    for (int r = 0; r < 5; ++r) {
      const int from = place + r - 2;
      if (from < 0 || from >= length) continue;
      sum += double(X[(blockIdx.z * channels + c) * length + from]) * double(F[(blockIdx.y * channels + c) * 5 + r]);
    }
  }
  Y[(blockIdx.z * filters + blockIdx.y) * length + place] = sum > 0 ? sum : 0;
}
