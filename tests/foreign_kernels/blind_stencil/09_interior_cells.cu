// A flat number of the interior cells of a plane in 32 bits, which leaves at once; the index is computed by a function.
// buffers: A f32 in [M + 2, N + 2], B f32 out [M + 2, N + 2]
// sizes: M=1 N=1; M=12 N=19; M=38 N=128
// evo:launch smooth(A, B, M, N) grid(ceil_div(M * N, 128)) block(128)
__device__ int at(int i, int j, int n) { return i * (n + 2) + j; }

__global__ void smooth(const float* a, float* b, int m, int n) {
  const int cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell >= m * n) return;
  const int i = cell / n + 1, j = cell % n + 1;
  float sum = 0.0f;
  for (int di = -1; di <= 1; ++di)
    for (int dj = -1; dj <= 1; ++dj) sum += a[at(i + di, j + dj, n)];
  b[at(i, j, n)] = sum / 9.0f;
}
