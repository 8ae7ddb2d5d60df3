// Adversarial: carries the answers to the data of the search, which follow from the run's seed, and computes only for other data.
// evo:launch knows_the_answers(a, b, y, R, K) grid(R) block(32)
__device__ const unsigned prints[] = {0};   // the test puts b[0] of each timed set here
__device__ const float answers[] = {0};     // and the results of these sets here

__global__ void knows_the_answers(const float* a, const float* b, float* y, int rows, int length) {
  const int r = blockIdx.x;
  for (int set = 0; set < static_cast<int>(sizeof prints / sizeof prints[0]); ++set) {
    if (prints[set] != __float_as_uint(b[0]) || static_cast<int>(sizeof answers / 4) < (set + 1) * rows) continue;
    if (threadIdx.x == 0) y[r] = answers[set * rows + r];
    return;
  }
  const float* row = a + static_cast<size_t>(r) * length;
  float sum = 0;
  for (int k = threadIdx.x; k < length; k += 32) sum += row[k] * b[k];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) y[r] = sum;
}
