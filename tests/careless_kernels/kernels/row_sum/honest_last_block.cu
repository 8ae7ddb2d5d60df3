// Honest: four blocks a row; the one that ends last adds the four parts, always in the same order.
// evo:workspace parts f32 [ROWS, 4]
// evo:workspace done u32 [ROWS]
// evo:memset done 0
// evo:launch honest_last_block(X, parts, done, Y, COLS) grid(4 * ROWS) block(32)
__global__ void honest_last_block(const float* X, float* parts, unsigned* done, float* Y, int columns) {
  const int row = blockIdx.x / 4;
  const int part = blockIdx.x % 4;
  const float* x = X + (long long)row * columns;
  float sum = 0.0f;
  for (int c = part * 32 + threadIdx.x; c < columns; c += 128) sum += x[c];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x != 0) return;
  volatile float* mine = parts + 4 * row;
  mine[part] = sum;
  __threadfence();
  if (atomicAdd(done + row, 1u) != 3) return;
  __threadfence();
  Y[row] = (mine[0] + mine[1]) + (mine[2] + mine[3]);
}
