// evo:workspace other f64 [N, N]
// evo:repeat STEP < R
// evo:launch reference(grid, other, N) grid(N) block(128)
// evo:launch reference(other, grid, N) grid(N) block(128)
// evo:end
__global__ void reference(const double* from, double* to, int n) {
  const int y = blockIdx.x;
  for (int x = threadIdx.x; x < n; x += blockDim.x) {
    const bool edge = x == 0 || y == 0 || x == n - 1 || y == n - 1;
    const double* at = from + y * n + x;
    to[y * n + x] = edge ? at[0] : 0.25 * (at[-1] + at[1] + at[-n] + at[n]);
  }
}
