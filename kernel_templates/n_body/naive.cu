// Accelerations by all pairs, one thread a body, which reads all bodies from global memory.
// evo:param BLOCK 32 64 128 256 512
// evo:param UNROLL 1 2 4 8
// evo:launch n_body_naive(P, M, A, eps, N) grid(ceil_div(N, BLOCK)) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 128
#endif

// Bodies that an iteration adds.
#ifndef UNROLL
#define UNROLL 1
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__global__ void n_body_naive(const float* P, const float* M, float* A, float eps, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  const float x = P[3LL * i];
  const float y = P[3LL * i + 1];
  const float z = P[3LL * i + 2];
  float ax = 0.0f;
  float ay = 0.0f;
  float az = 0.0f;
#pragma unroll kUnroll
  for (int j = 0; j < n; ++j) {
    const float dx = P[3LL * j] - x;
    const float dy = P[3LL * j + 1] - y;
    const float dz = P[3LL * j + 2] - z;
    const float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + eps * eps);
    const float factor = M[j] * inverse * inverse * inverse;
    ax += factor * dx;
    ay += factor * dy;
    az += factor * dz;
  }
  A[3LL * i] = ax;
  A[3LL * i + 1] = ay;
  A[3LL * i + 2] = az;
}
