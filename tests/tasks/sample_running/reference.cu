// evo:launch running_reference(bookings, balance, N) grid(1) block(1)
__global__ void running_reference(const float* bookings, double* balance, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += double(bookings[i]);
    balance[i] = sum;
  }
}
