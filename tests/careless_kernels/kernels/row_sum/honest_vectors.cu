// Honest: four values at a time between an unaligned head and a tail.
// evo:launch honest_vectors(X, Y, COLS) grid(ROWS) block(32)
__global__ void honest_vectors(const float* X, float* Y, int columns) {
  const long long begin = (long long)blockIdx.x * columns;
  const float* x = X + begin;
  const int head = min((int)((4 - begin % 4) % 4), columns);
  const int vectors = (columns - head) / 4;
  const float4* fours = reinterpret_cast<const float4*>(x + head);
  float sum = (int)threadIdx.x < head ? x[threadIdx.x] : 0.0f;
  for (int v = threadIdx.x; v < vectors; v += 32) {
    const float4 four = fours[v];
    sum += (four.x + four.y) + (four.z + four.w);
  }
  const int tail = head + 4 * vectors + threadIdx.x;
  if (tail < columns) sum += x[tail];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x == 0) Y[blockIdx.x] = sum;
}
