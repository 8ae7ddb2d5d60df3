// What a GPU can do at most: a copy, and fused multiply-adds in registers. measure_task.py launches them.

// Elements of 16 bytes, each thread several.
extern "C" __global__ void copy_all(const float4* from, float4* to, long long elements) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < elements; i += step) to[i] = from[i];
}

// Sixteen chains a thread, so that none waits for the one before: 32 operations an iteration.
extern "C" __global__ void multiply_add(float* out, int iterations, float factor) {
  constexpr int kChains = 16;
  float sums[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) sums[c] = threadIdx.x + c;
#pragma unroll 4
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int c = 0; c < kChains; ++c) sums[c] = fmaf(sums[c], factor, 1.0f);
  }
  float sum = 0;
#pragma unroll
  for (int c = 0; c < kChains; ++c) sum += sums[c];
  out[(long long)blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
