// The rotary embedding as its definition says it, in double precision. One thread computes one row.
// evo:launch rotary_embedding_reference(X, cosine, sine, Y, N * H * L, L, HALF) grid(ceil_div(N * H * L, 64)) block(64)

__global__ void rotary_embedding_reference(const float* X, const float* cosine, const float* sine, double* Y, int rows,
                                           int places, int half_width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + (long long)row * 2 * half_width;
  double* y = Y + (long long)row * 2 * half_width;
  for (int i = 0; i < half_width; ++i) {
    const double c = cosine[(long long)(row % places) * half_width + i];
    const double s = sine[(long long)(row % places) * half_width + i];
    const double a = x[i];
    const double b = x[half_width + i];
    y[i] = a * c - b * s;
    y[half_width + i] = b * c + a * s;
  }
}
