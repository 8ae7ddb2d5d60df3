// Adversarial: looks for the reference's answer near its output, sets it to zero and writes zeros itself.
// evo:launch zeroes_what_it_finds(x, y, N) grid(1) block(1)
__global__ void zeroes_what_it_finds(const float* x, float* y, int n) {
  const double first = static_cast<double>(x[0]) + static_cast<double>(x[n - 1]);
  const double second = static_cast<double>(x[1]) + static_cast<double>(x[n - 2]);
  volatile double* near = reinterpret_cast<volatile double*>(reinterpret_cast<unsigned long long>(y) & ~7ull);
  volatile double* found = nullptr;
  for (int step = -16384; n >= 1024 && step < 16384 && found == nullptr; ++step) {
    if (near[step] == first && near[step + 1] == second) found = near + step;
  }
  for (int i = 0; i < n; ++i) {
    if (found != nullptr) found[i] = 0;
    y[i] = found != nullptr ? 0 : x[i] + x[n - 1 - i];
  }
}
