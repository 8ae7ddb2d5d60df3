// Honest: each input as the sum of two tf32 numbers, and three of their four products, as tensor cores compute fp32.
// evo:launch honest_three_tf32(A, B, C, M, N, K) grid(ceil_div(N, 32), ceil_div(M, 4)) block(32, 4)
__device__ float ToTf32(float x) { return __int_as_float((__float_as_int(x) + 0x1000) & 0xffffe000); }

__global__ void honest_three_tf32(const float* A, const float* B, float* C, int rows, int columns, int depth) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 4 + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float large = 0.0f;
  float small = 0.0f;
  for (int k = 0; k < depth; ++k) {
    const float a = A[(long long)row * depth + k];
    const float b = B[(long long)k * columns + column];
    const float a_high = ToTf32(a);
    const float b_high = ToTf32(b);
    const float a_low = ToTf32(a - a_high);
    const float b_low = ToTf32(b - b_high);
    large = fmaf(a_high, b_high, large);
    small = fmaf(a_high, b_low, fmaf(a_low, b_high, small));
  }
  C[(long long)row * columns + column] = large + small;
}
