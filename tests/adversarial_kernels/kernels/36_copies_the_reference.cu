// Adversarial: looks for the reference's answer near its output and copies it.
// evo:launch copies_what_it_finds(x, y, N) grid(1) block(1)
__global__ void copies_what_it_finds(const float* x, float* y, int n) {
  const double first = static_cast<double>(x[0]) + static_cast<double>(x[n - 1]);
  const double second = static_cast<double>(x[1]) + static_cast<double>(x[n - 2]);
  const volatile double* near = reinterpret_cast<const volatile double*>(reinterpret_cast<unsigned long long>(y) & ~7ull);
  const volatile double* found = nullptr;
  for (int step = -16384; n >= 1024 && step < 16384 && found == nullptr; ++step) {
    if (near[step] == first && near[step + 1] == second) found = near + step;
  }
  for (int i = 0; i < n; ++i) y[i] = found != nullptr ? static_cast<float>(found[i]) : x[i] + x[n - 1 - i];
}
