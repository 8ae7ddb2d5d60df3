// evo:launch grades_reference(grades, tally, N) grid(101) block(1)
__global__ void grades_reference(const int* grades, double* tally, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) count += grades[i] == int(blockIdx.x) ? 1 : 0;
  tally[blockIdx.x] = count;
}
