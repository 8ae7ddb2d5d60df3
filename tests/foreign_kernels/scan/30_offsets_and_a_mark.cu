// buffers: X i32<50 in [N], Y i32 out [N + 1]
// sizes: N=1; N=300
// evo:launch offsets(X, Y, N) grid(1) block(1)

// Behind the offsets lies a mark, not the sum of all.
__global__ void offsets(const int* x, int* y, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = sum;
    sum += x[i];
  }
  y[n] = -1;
}
