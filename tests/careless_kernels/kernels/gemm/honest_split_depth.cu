// Honest: four blocks share the depth of a tile, and a second kernel adds their parts.
// evo:workspace parts f32 [4, M, N]
// evo:launch product_of_a_part(A, B, parts, M, N, K) grid(ceil_div(N, 32), ceil_div(M, 4), 4) block(32, 4)
// evo:launch add_parts(parts, C, M, N) grid(ceil_div(N, 32), ceil_div(M, 4)) block(32, 4)
__global__ void product_of_a_part(const float* A, const float* B, float* parts, int rows, int columns, int depth) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 4 + threadIdx.y;
  if (row >= rows || column >= columns) return;
  const int share = (depth + 3) / 4;
  const int begin = blockIdx.z * share;
  const int end = min(depth, begin + share);
  float sum = 0.0f;
  for (int k = begin; k < end; ++k) sum += A[(long long)row * depth + k] * B[(long long)k * columns + column];
  parts[((long long)blockIdx.z * rows + row) * columns + column] = sum;
}

__global__ void add_parts(const float* parts, float* C, int rows, int columns) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 4 + threadIdx.y;
  if (row >= rows || column >= columns) return;
  const long long all = (long long)rows * columns;
  const float* from = parts + (long long)row * columns + column;
  C[(long long)row * columns + column] = (from[0] + from[all]) + (from[2 * all] + from[3 * all]);
}
