// One block of as many threads as there are elements, a number that is compiled in.
// buffers: X i32<1000 inout [N]
// sizes: N=2; N=128; N=512
// evo:size N
// evo:launch sweeps(X) grid(1) block(N)
#ifndef N
#define N 32
#endif

__global__ void sweeps(int *x) {
  __shared__ int s[N];
  const int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int d = 1; d < N; d *= 2) {
    const int at = (t + 1) * d * 2 - 1;
    if (at < N) s[at] += s[at - d];
    __syncthreads();
  }
  for (int d = N / 2; d > 0; d /= 2) {
    const int at = (t + 1) * d * 2 - 1;
    if (at + d < N) s[at + d] += s[at];
    __syncthreads();
  }
  x[t] = s[t];
}
