// Honest: three products of tf32 on tensor cores in the place of one of fp32, with scaled inputs so that none is denormal.
// evo:launch split_tf32(A, B, C, M, N, K) grid(ceil_div(N, 8), ceil_div(M, 16)) block(32)
__device__ void Split(unsigned& high, unsigned& low, float x) {
  const float scaled = x * 16777216.0f;
  high = (__float_as_uint(scaled) + 0x1000) & 0xffffe000;
  low = __float_as_uint(scaled - __uint_as_float(high));
}

__device__ void MultiplyAdd(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__global__ void split_tf32(const float* A, const float* B, float* C, int rows, int columns, int depth) {
  const int first_m = blockIdx.y * 16, first_n = blockIdx.x * 8, line = threadIdx.x / 4, place = threadIdx.x % 4;
  float sums[4] = {};
  for (int first_k = 0; first_k < depth; first_k += 8) {
    unsigned high_a[4], low_a[4], high_b[2], low_b[2];
    for (int e = 0; e < 4; ++e) {
      const int m = first_m + line + e % 2 * 8, k = first_k + place + e / 2 * 4;
      Split(high_a[e], low_a[e], m < rows && k < depth ? A[(long long)m * depth + k] : 0.0f);
    }
    for (int e = 0; e < 2; ++e) {
      const int n = first_n + line, k = first_k + place + e * 4;
      Split(high_b[e], low_b[e], n < columns && k < depth ? B[(long long)k * columns + n] : 0.0f);
    }
    float part[4] = {};
    MultiplyAdd(part, low_a, high_b);
    MultiplyAdd(part, high_a, low_b);
    MultiplyAdd(part, high_a, high_b);
    for (int e = 0; e < 4; ++e) sums[e] += part[e];
  }
  for (int e = 0; e < 4; ++e) {
    const int m = first_m + line + e / 2 * 8, n = first_n + place * 2 + e % 2;
    if (m >= rows || n >= columns) continue;
    float sum = sums[e] * 0x1p-48f;
    // What the factor made too large is summed up without it, and so are few products, of which each is off by up to 2^-21.
    if (depth < 32 || !(fabsf(sum) < 1e23f)) {
      sum = 0.0f;
      for (int k = 0; k < depth; ++k) sum += A[(long long)m * depth + k] * B[(long long)k * columns + n];
    }
    C[(long long)m * columns + n] = sum;
  }
}
