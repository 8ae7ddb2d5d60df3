// Areas between neighbouring values, then a launch for each distance between two buffers that exchange their names.
// buffers: F f32 in [N], A f32 inout [N], B f32 inout [N]
// sizes: N=2; N=3; N=300; N=5003
// evo:launch areas(F, A, N) grid(ceil_div(N, 256)) block(256)
// evo:repeat K < ceil_log(N, 2)
// evo:launch reach(A, B, power(2, K), N) grid(ceil_div(N, 256)) block(256)
// evo:swap A B
// evo:end

__global__ void areas(const float* f, float* area, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) area[i] = i == 0 ? 0.0f : 0.5f * (f[i - 1] + f[i]);
}

__global__ void reach(const float* from, float* to, int distance, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = from[i];
  if (i >= distance) sum += from[i - distance];
  to[i] = sum;
}
