// buffers: X f32 in [N], W f32 in [N], Y f32 out [1]
// sizes: N=1; N=1000; N=30011
// evo:workspace part_sums f32 [ceil_div(N, 256)]
// evo:workspace part_weights f32 [ceil_div(N, 256)]
// evo:launch weighted_parts(X, W, part_sums, part_weights, N) grid(ceil_div(N, 256)) block(256)
// evo:launch weighted_mean(part_sums, part_weights, Y, ceil_div(N, 256)) grid(1) block(256)

// The sum of the weighted values and that of the weights, which both must be there before one divides the other.
__global__ void weighted_parts(const float* x, const float* w, float* sums, float* weights, int n) {
  __shared__ float s[2][256];
  const int t = threadIdx.x;
  const int i = blockIdx.x * 256 + t;
  s[0][t] = i < n ? x[i] * (w[i] * w[i]) : 0.0f;
  s[1][t] = i < n ? w[i] * w[i] : 0.0f;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (t < d) {
      s[0][t] += s[0][t + d];
      s[1][t] += s[1][t + d];
    }
    __syncthreads();
  }
  if (t == 0) {
    sums[blockIdx.x] = s[0][0];
    weights[blockIdx.x] = s[1][0];
  }
}

__global__ void weighted_mean(const float* sums, const float* weights, float* mean, int count) {
  __shared__ float2 s[256];
  const int t = threadIdx.x;
  float2 own = make_float2(0.0f, 0.0f);
  for (int i = t; i < count; i += 256) {
    own.x += sums[i];
    own.y += weights[i];
  }
  s[t] = own;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (t < d) {
      s[t].x += s[t + d].x;
      s[t].y += s[t + d].y;
    }
    __syncthreads();
  }
  if (t == 0) mean[0] = s[0].x / s[0].y;
}
