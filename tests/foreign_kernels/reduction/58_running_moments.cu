// buffers: X f32 in [N], Y f32 out [2]
// sizes: N=2; N=300; N=5001
// evo:launch moments(X, N, Y) grid(1) block(256)

struct State {
  float mean;
  float m2;
  int count;
};

__device__ State merge(State a, State b) {
  State r;
  r.count = a.count + b.count;
  r.mean = 0.f;
  r.m2 = 0.f;
  if (r.count == 0) return r;
  float delta = b.mean - a.mean;
  r.mean = a.mean + delta * b.count / r.count;
  r.m2 = a.m2 + b.m2 + delta * delta * a.count * b.count / r.count;
  return r;
}

__global__ void moments(const float* __restrict__ x, int n, float* __restrict__ out) {
  __shared__ State s[256];
  State w = {0.f, 0.f, 0};
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    w.count += 1;
    float d = x[i] - w.mean;
    w.mean += d / w.count;
    w.m2 += d * (x[i] - w.mean);
  }
  s[threadIdx.x] = w;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k /= 2) {
    if (threadIdx.x < k) s[threadIdx.x] = merge(s[threadIdx.x], s[threadIdx.x + k]);
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    out[0] = s[0].mean;
    out[1] = s[0].m2 / s[0].count;
  }
}
