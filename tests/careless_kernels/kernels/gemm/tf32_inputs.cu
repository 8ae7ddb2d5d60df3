// Careless: rounds the inputs to tf32 (11 bits). Wrong for every matrix by 3e-4, which fp32 does not allow.
// evo:launch tf32_inputs(A, B, C, M, N, K) grid(ceil_div(N, 32), ceil_div(M, 8)) block(32, 8)
__device__ float ToTf32(float x) { return __int_as_float((__float_as_int(x) + 0x1000) & 0xffffe000); }

__global__ void tf32_inputs(const float* A, const float* B, float* C, int rows, int columns, int depth) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 8 + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k) sum += ToTf32(A[(long long)row * depth + k]) * ToTf32(B[(long long)k * columns + column]);
  C[(long long)row * columns + column] = sum;
}
