// Accelerations by all pairs as their definition says it, in double precision. One thread computes those of one body.
// evo:launch n_body_reference(P, M, A, eps, N) grid(ceil_div(N, 64)) block(64)

__global__ void n_body_reference(const float* P, const float* M, double* A, float eps, int n) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double sums[3] = {};
  for (long long j = 0; j < n; ++j) {
    double difference[3];
    double square = double(eps) * double(eps);
    for (int d = 0; d < 3; ++d) {
      difference[d] = double(P[3 * j + d]) - double(P[3 * i + d]);
      square += difference[d] * difference[d];
    }
    const double factor = double(M[j]) / (square * sqrt(square));
    for (int d = 0; d < 3; ++d) sums[d] += difference[d] * factor;
  }
  for (int d = 0; d < 3; ++d) A[3 * i + d] = sums[d];
}
