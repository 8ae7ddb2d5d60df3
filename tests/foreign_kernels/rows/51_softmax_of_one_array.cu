// One block, one array.
// buffers: X f32 in [N], Y f32 out [N]
// sizes: N=1; N=100; N=1000
// evo:launch normalise(X, Y, N) grid(1) block(128)

__global__ void normalise(const float* x, float* y, int n) {
  __shared__ float s[128];
  const int t = threadIdx.x;
  float most = -INFINITY;
  for (int i = t; i < n; i += blockDim.x) most = fmaxf(most, x[i]);
  s[t] = most;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) s[t] = fmaxf(s[t], s[t + d]);
    __syncthreads();
  }
  most = s[0];
  __syncthreads();
  float sum = 0.0f;
  for (int i = t; i < n; i += blockDim.x) sum += expf(x[i] - most);
  s[t] = sum;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  for (int i = t; i < n; i += blockDim.x) y[i] = expf(x[i] - most) / s[0];
}
