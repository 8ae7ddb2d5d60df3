// Running sums of many short rows, each by a block that has at least as many threads.
// buffers: X f32 in [R, C], Y f32 out [R, C]
// sizes: R=1 C=1; R=3 C=37; R=2 C=1000
// evo:launch sums_of_row(X, Y, C) grid(R) block(power(2, ceil_log(C, 2)))

#define LONGEST 1024

__global__ void sums_of_row(const float* x, float* y, int n) {
  __shared__ float half[2][LONGEST];
  const int t = threadIdx.x, row = blockIdx.x * n;
  int now = 0;
  half[0][t] = t < n ? x[row + t] : 0.0f;
  __syncthreads();
  for (int d = 1; d < n; d <<= 1) {
    half[1 - now][t] = t >= d ? half[now][t] + half[now][t - d] : half[now][t];
    now = 1 - now;
    __syncthreads();
  }
  if (t < n) y[row + t] = half[now][t];
}
