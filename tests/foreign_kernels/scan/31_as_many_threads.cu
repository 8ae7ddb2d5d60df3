// buffers: X f32 in [N], Y f32 out [N]
// sizes: N=1; N=300; N=1024
// evo:launch naive_scan(X, Y, N) grid(1) block(N) shared(N * 4)

// As many threads as there are elements, so that there are no more than 1,024.
__global__ void naive_scan(const float *in, float *out, int n) {
  extern __shared__ float temp[];
  int t = threadIdx.x;
  temp[t] = in[t];
  __syncthreads();
  for (int d = 1; d < n; d *= 2) {
    float v = 0;
    if (t >= d) v = temp[t] + temp[t - d];
    __syncthreads();
    if (t >= d) temp[t] = v;
    __syncthreads();
  }
  out[t] = temp[t];
}
